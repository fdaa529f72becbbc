"""LMask: tours built node by node under lazily refined masks (Li, Zou, Wu and Wen 2026, arXiv 2505.17938)."""
