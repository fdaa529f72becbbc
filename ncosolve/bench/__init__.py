"""Comparisons of solvers: runs, the table of their results, statistics and reports."""
