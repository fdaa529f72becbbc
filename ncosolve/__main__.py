"""``python -m ncosolve``."""

import sys

from ncosolve.cli import main

if __name__ == "__main__":
    sys.exit(main())
