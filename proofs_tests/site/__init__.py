"""The documentation: which files are pages of the site, how their blocks run, and what language they keep to."""
