"""Benchmarks: each compares cgens with other libraries in one run and saves the results as JSON."""
