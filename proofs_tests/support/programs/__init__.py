"""Programs around the tests: browser, cluster, long searches, and the table of ARCHITECTURE.md."""
