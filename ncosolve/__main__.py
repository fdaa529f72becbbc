"""``python -m ncosolve`` and the ``ncosolve`` command: a Ctrl-C while it still loads leaves no traceback."""

import sys

INTERRUPTED = 130


def main() -> int:
    """Run the command line; its exit code."""
    try:
        from ncosolve.cli import main as run

        return run()
    except KeyboardInterrupt:
        return INTERRUPTED


if __name__ == "__main__":
    sys.exit(main())
