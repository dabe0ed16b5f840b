"""Tables and small learners that several tests use."""
