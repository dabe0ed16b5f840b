"""Policies are read from TOML, and a file with mistakes is refused with all of them."""

import contextlib
import pickle
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from accountant.policies import EXAMPLE, PolicyMistakes, policy_from_text, read_policy

WRONG = """
polcy = "exchequer-policy-1"
[opn]
users = ["ana"]
[open]
users = "ana"
[promise]
adjacency = ["add-remove-two", "replace-one"]
forbidden_adjacency = ["replace-one"]
forbidden_composition = ["zcpd"]
[about]
required = ["datset"]
[noise]
source = "any good one"
[sub_budgets]
only = 1
[limits.release]
epsilon = true
delta = 1.0
[limits.dataset]
epsilon = inf
delta = 1e-6
[limits.year]
epsilon = 1.0
dleta = 1e-6
[datasets.hospital]
[datasets." x"]
total = 3
"""

ALL = (
    "polcy: unknown key; did you mean 'policy'?",
    "opn: unknown key; did you mean 'open'?",
    "policy: expected",
    "open.users: expected a list",
    "promise.adjacency: 'add-remove-two' is unknown; did you mean 'add-remove-one'?",
    "promise.forbidden_adjacency: 'replace-one' is in promise.adjacency as well",
    "promise.forbidden_composition: 'zcpd' is no rule; did you mean 'zcdp'?",
    "about.required: 'datset' is unknown; did you mean 'dataset'?",
    "noise.source: expected",
    "sub_budgets.only: expected true or false",
    "limits.release.epsilon: expected a number",
    "limits.release.delta: expected a number",
    "limits.dataset.epsilon: expected a number",
    "limits.year.dleta: unknown key; did you mean 'delta'?",
    "limits.year.delta: it is missing",
    "datasets.hospital: it sets no limit",
    "datasets. x: no data set can be called that",
    "datasets. x.total: expected a table",
)


def test_all_mistakes_are_listed_at_once(tmp_path: Path) -> None:
    (file := tmp_path / "policy.toml").write_text(WRONG, encoding="utf-8")
    with pytest.raises(PolicyMistakes) as caught:
        read_policy(file)
    found = caught.value.mistakes
    for expected in ALL:
        assert sum(expected in each for each in found) == 1, expected
    assert len(found) == len(ALL)
    assert all(each in str(caught.value) for each in found)
    again = pickle.loads(pickle.dumps(caught.value))  # noqa: S301  # noqa: S301
    assert (str(again), again.mistakes) == (str(caught.value), found)


def test_the_example_has_every_key_and_is_read() -> None:
    policy = policy_from_text(EXAMPLE)
    assert policy.users == ("ana", "ben")
    assert policy.programs == ("train.py", "exchequer")
    assert policy.adjacency == ("add-remove-one", "replace-one")
    assert policy.forbidden_composition == ("no-bound",)
    assert policy.secure_noise
    assert policy.about == ("dataset", "purpose")
    assert policy.sub_budgets == ("holdout",)
    assert policy.release is not None
    assert policy.release.most.epsilon == 0.5
    own, every = policy.limits_of("hospital"), policy.limits_of("school")
    assert own.total is not None
    assert every.total is not None
    assert own.year is not None
    assert every.year is not None
    assert (own.total.most.epsilon, every.total.most.epsilon) == (2.0, 4.0)
    assert (own.year.most.epsilon, every.year.most.epsilon) == (0.75, 1.0)


def test_each_misspelt_key_of_the_example_is_found() -> None:
    lines = EXAMPLE.splitlines()
    keys = [place for place, line in enumerate(lines) if " = " in line.partition("#")[0]]
    assert len(keys) > 15
    for place in keys:
        changed = [*lines[:place], f"x{lines[place]}", *lines[place + 1 :]]
        with pytest.raises(PolicyMistakes, match="unknown key"):
            policy_from_text("\n".join(changed))


@given(st.text(max_size=80))
def test_any_text_is_a_policy_or_a_list_of_mistakes(text: str) -> None:
    with contextlib.suppress(PolicyMistakes):
        policy_from_text(f'policy = "exchequer-policy-1"\n{text}')


def test_what_is_no_text_is_said_to_be_none(tmp_path: Path) -> None:
    (file := tmp_path / "policy.toml").write_bytes(b"\xff\xfe")
    with pytest.raises(PolicyMistakes, match="no text in UTF-8"):
        read_policy(file)
