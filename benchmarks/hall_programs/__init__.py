"""Programs of other libraries that `benchmarks.kit.hall` audits, one module per library, run by an interpreter that has it.

A module imports its library inside of functions only, so that names and claims can be read without it.
"""
