"""Three words, wherever a person or a program sees a verdict."""

import json
import math
from typing import get_args

import attrs
import numpy as np
import pytest

from accountant import GDP, ReplaceOne
from accountant.arrays import FloatArray
from mechanisms import ExponentialChoice, L1Sensitivity, PlainSelection, Query, RangeSensitivity
from proofs_tests.harness import (
    ClaimViolated,
    Pair,
    Report,
    TranscriptNoise,
    Verdict,
    check_draws,
    check_mechanism,
    check_sensitivity,
    check_transcripts,
    neighbours,
    table,
)
from proofs_tests.harness.report import judged
from proofs_tests.harness.search import Worst

EXACT = Report("s", "c", "ε", 1.0, 0.5, "exact", "w", 3, 0.1)
SAMPLED = attrs.evolve(
    EXACT, method="statistical", factor=1.75, power=0.9, confidence=0.99, alternatives="a coin lands"
)
SEARCHED = attrs.evolve(EXACT, method="search")


@pytest.mark.parametrize(
    ("report", "verdict", "statement"),
    [
        (EXACT, "exact", "exact"),
        (SAMPLED, "not refuted", "not refuted (would have found a factor of 1.75 with probability 0.9)"),
        (
            attrs.evolve(SAMPLED, factor=None, power=None),
            "not refuted",
            "not refuted (3 pairs tried; no probability can be stated)",
        ),
        (SEARCHED, "not refuted", "not refuted (3 pairs tried; no probability can be stated)"),
        *((attrs.evolve(each, found=1.1), "refuted", "refuted") for each in (EXACT, SAMPLED, SEARCHED)),
        *((attrs.evolve(each, found=math.nan), "refuted", "refuted") for each in (EXACT, SAMPLED, SEARCHED)),
    ],
)
def test_a_report_says_one_of_three_words(report: Report, verdict: Verdict, statement: str) -> None:
    assert report.verdict == verdict
    assert report.verdict in get_args(Verdict)
    assert report.statement == statement
    assert f": {statement};" in str(report)
    assert f"| {statement} |" in table([report])
    assert report.as_dict()["verdict"] == verdict
    assert report.refuted == (verdict == "refuted")
    for word in ("holds", "VIOLATED", "violated", "passes", "detects"):
        assert word not in str(report) + table([report])


def test_programs_get_strict_json() -> None:
    found = attrs.evolve(SAMPLED, found=math.inf).as_dict()
    again = json.loads(json.dumps(found, allow_nan=False))
    assert again["found"] == again["ratio"] == "inf"
    assert (again["verdict"], again["factor"], again["power"]) == ("refuted", 1.75, 0.9)
    assert again["alternatives"] == "a coin lands"


def test_a_method_that_is_none_of_the_three_is_refused() -> None:
    with pytest.raises(ValueError, match="method: expected one of exact, statistical, search, got 'guess'"):
        attrs.evolve(EXACT, method="guess")  # type: ignore[arg-type]  # as somebody without mypy would write it


def counts() -> Query[tuple[int, ...], FloatArray, L1Sensitivity]:
    def counted(column: tuple[int, ...]) -> FloatArray:
        return np.bincount(column, minlength=3).astype(np.float64)

    return Query("counts", counted, L1Sensitivity(2.0), ReplaceOne())


def test_a_sensitivity_is_exact_over_all_pairs_of_a_domain_only() -> None:
    pairs = list(neighbours(ReplaceOne(), range(3), 2))
    assert check_sensitivity(counts(), pairs, complete=True).verdict == "exact"
    some = check_sensitivity(counts(), pairs[:4])
    assert some.statement == "not refuted (4 pairs tried; no probability can be stated)"


def test_searches_and_transcripts_are_never_exact() -> None:
    worst = Worst(0.5, "a against b", 300)
    assert worst.against("gain", "declared", "range", 1.0).statement.startswith("not refuted (300 pairs tried")
    with pytest.raises(ClaimViolated, match=": refuted;"):
        worst.against("gain", "declared", "range", 0.4)

    def learn(data: float, noise: TranscriptNoise) -> None:
        noise.gaussian(np.array([data]), 1.0, -40)

    report = check_transcripts("one mean", learn, [Pair(0.0, 1.0)], GDP(1.0), transcripts=2)
    assert report.statement == "not refuted (2 pairs tried; no probability can be stated)"


def test_laws_are_exact_and_draws_say_what_they_would_have_found() -> None:
    scores: Query[FloatArray, FloatArray, RangeSensitivity] = Query(
        "scores", lambda x: x, RangeSensitivity(1.0), ReplaceOne()
    )
    mechanism = PlainSelection(scores, ExponentialChoice(1.0))
    assert check_mechanism(mechanism, [Pair(np.zeros(2), np.array([1.0, 0.0]))]).verdict == "exact"
    drawn = check_draws(mechanism, np.zeros(2), samples=2000)
    assert drawn.verdict == "not refuted"
    assert drawn.factor is not None
    assert 1.1 < drawn.factor < 1.3
    assert drawn.power == 0.9


def test_an_exception_says_refuted_and_carries_the_report() -> None:
    with pytest.raises(ClaimViolated, match=r"s: c: refuted; ε 2 of 1, ratio 2\.0000") as raised:
        judged(attrs.evolve(EXACT, found=2.0))
    assert raised.value.report.verdict == "refuted"
