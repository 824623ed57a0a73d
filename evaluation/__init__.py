"""Splits of the data sets and the errors that the paper reports, for benchmarks and experiments."""
