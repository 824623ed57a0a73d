"""What the benchmarks and the experiments share: splits of the data sets, and the errors that the paper reports."""
