"""Public schemas of the data sets that the demo, the benchmarks and the tests use; data files only."""
