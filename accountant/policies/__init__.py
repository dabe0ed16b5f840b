"""Policies in TOML: what a ledger may promise, who may open it, and how much each data set may be charged.

A policy is checked at opening and at each charge, in the charge's own turn; and again by `exchequer ledger verify`.
"""

from accountant.policies.checks import OtherLedgers
from accountant.policies.example import EXAMPLE
from accountant.policies.guard import Guard, refuse_opening
from accountant.policies.policy import Limit, Policy
from accountant.policies.policy_file import POLICY, PolicyMistakes, policy_from_text, read_policy
from accountant.policies.verification import Breach, PolicyCheck, breaches

__all__ = [
    "EXAMPLE",
    "POLICY",
    "Breach",
    "Guard",
    "Limit",
    "OtherLedgers",
    "Policy",
    "PolicyCheck",
    "PolicyMistakes",
    "breaches",
    "policy_from_text",
    "read_policy",
    "refuse_opening",
]
