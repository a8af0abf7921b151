"""Benchmarks: what a token costs, and how that grows.  `python -m bench --help`."""
