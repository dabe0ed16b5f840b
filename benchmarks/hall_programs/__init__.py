"""Programs of other libraries that `benchmarks.kit.hall` audits, a module per library, run by an interpreter with it.

A module imports its library inside of functions only, so that names and claims can be read without it. This package
imports none of them, as each interpreter has one library.
"""

__all__ = [
    "data_synthesizer",
    "diffprivlib_tools",
    "flower",
    "jax_private",
    "multi_freq_ldpy",
    "open_dp",
    "pipeline_dp",
    "program",
    "pure_ldp",
    "pure_ldp_before",
    "py_dp",
    "serve_programs",
    "tumult",
]
