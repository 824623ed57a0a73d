"""Benchmarks: each measures cgens and its peers in one run and saves JSON."""
