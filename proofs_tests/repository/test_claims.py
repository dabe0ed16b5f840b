"""The registry is complete, its tests exist, and its page is fresh."""

import ast
import re
from pathlib import Path

import pytest

from proofs_tests.claims import stamps
from proofs_tests.claims.claim import Claim
from proofs_tests.claims.registry import CLAIMS, page
from proofs_tests.claims.unchecked import UNCHECKED

ROOT = Path(__file__).parents[2]
IDS = {claim.id for claim in CLAIMS}
# Ids as docstrings cite them, "[L3]", and as mechanisms declare them, in tuples named claims.
CITED = re.compile(r"(?<!ignore)\[((?:L\d|00\d-[\w-]+|basic|kov|pld|gdp|laplace|[a-z]+(?:-[a-z]+)+))\]")


def test_ids_are_unique() -> None:
    assert len(IDS) == len(CLAIMS)


@pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: claim.id)
def test_the_test_that_shows_a_claim_exists(claim: Claim) -> None:
    path, name = claim.test.split("::")
    assert re.search(rf"^def {name}\(", (ROOT / "proofs_tests" / path).read_text(encoding="utf-8"), re.MULTILINE)


def test_every_id_that_code_cites_is_known() -> None:
    cited: set[str] = set()
    for folder in ("accountant", "mechanisms", "boosting", "learners", "exchequer", "proofs_tests", "benchmarks"):
        for path in (ROOT / folder).rglob("*.py"):
            if path != Path(__file__):
                cited |= set(CITED.findall(path.read_text(encoding="utf-8")))
    assert cited <= IDS | {name for name, _, _ in UNCHECKED}
    assert len(cited) >= 15


def test_every_id_that_a_mechanism_declares_is_known() -> None:
    from boosting import LazyBregman
    from learners import Layout, PrivateOneRule, Schema

    slickness = LazyBregman(0.5, 0.5).slickness(10, 2)
    learner = PrivateOneRule(Layout(Schema.boolean(["x"])), 1.0)
    assert set(learner.mechanism(slickness.zeta).under(slickness).description.claims) <= IDS


def test_the_page_is_fresh() -> None:
    assert (ROOT / "CLAIMS.md").read_text(encoding="utf-8") == page(), "run python -m proofs_tests.claims"


SAME_PYTHON = pytest.mark.skipif(
    not stamps.comparable(), reason=f"the stamps are of Python {stamps.python_of_stamps()}, whose trees differ"
)


@SAME_PYTHON
def test_no_code_behind_a_claim_changed_without_its_entry() -> None:
    unread = stamps.unread(stamps.current(CLAIMS), stamps.stored())
    assert not unread, f"read the entries of {unread} again, then run python -m proofs_tests.claims"


@SAME_PYTHON
def test_the_stamps_are_fresh() -> None:
    assert stamps.current(CLAIMS) == stamps.stored(), "run python -m proofs_tests.claims"


def test_a_changed_constant_is_noticed_and_a_changed_comment_is_not() -> None:
    then = {"L2": stamps.Stamp("code", "entry"), "L3": stamps.Stamp("code", "entry")}
    assert stamps.unread({**then, "L2": stamps.Stamp("other", "entry")}, then) == ["L2"]
    assert stamps.unread({**then, "L2": stamps.Stamp("other", "changed")}, then) == []
    one, other, prose = (
        ast.parse(f'def f(zeta):\n    """{text} [L2]"""\n    # {text}\n    return {factor} * zeta\n').body[0]
        for text, factor in (("a", 2), ("a", 4), ("b", 2))
    )
    assert isinstance(one, ast.FunctionDef)
    assert isinstance(other, ast.FunctionDef)
    assert isinstance(prose, ast.FunctionDef)
    assert stamps._without_docstrings(one) != stamps._without_docstrings(other)
    assert stamps._without_docstrings(one) == stamps._without_docstrings(prose)
