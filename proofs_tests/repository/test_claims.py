"""The registry is complete, its tests exist, and its page is fresh."""

import re
from pathlib import Path

import pytest

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
