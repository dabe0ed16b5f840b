"""A policy with every key that there is, as `exchequer ledger policy` prints it."""

from typing import Final

EXAMPLE: Final = """\
# Every key is optional but the first. An (epsilon, delta) with delta = 0 is a pure promise.
policy = "exchequer-policy-1"

[open]                                # who may open a ledger and charge, by what they say of themselves
users = ["ana", "ben"]                # EXCHEQUER_RECORD=user, or About(user=...)
programs = ["train.py", "exchequer"]  # the program's name, with or without its version

[promise]                             # what a ledger may promise
adjacency = ["add-remove-one", "replace-one"]
forbidden_adjacency = ["feature-value", "feature-values"]
forbidden_composition = ["no-bound"]  # basic, advanced, advanced-textbook, zcdp, gdp, no-bound, or a rule of your own

[about]
required = ["dataset", "purpose"]     # what each charge must say: these, or user, host, program, dataset_digest

[noise]
source = "secure"                     # no simulated noise; "any" allows it

[sub_budgets]
required = ["holdout"]                # must be set aside before anything is charged
only = false                          # true: what is not set aside pays for nothing

[limits.release]                      # the most that one charge may cost
epsilon = 0.5
delta = 1e-6

[limits.dataset]                      # the most that each data set may be charged, for good
epsilon = 4.0
delta = 1e-5

[limits.year]                         # and in each calendar year (UTC)
epsilon = 1.0
delta = 1e-5

[datasets.hospital.total]             # for one data set, in place of [limits.dataset]
epsilon = 2.0
delta = 1e-5

[datasets.hospital.year]              # and of [limits.year]
epsilon = 0.75
delta = 1e-5
"""
