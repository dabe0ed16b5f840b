"""Programs of other libraries that `benchmarks.kit.hall` audits, a module per library, run by an interpreter with it.

A module imports its library inside of functions only, so that names and claims can be read without it.
"""
