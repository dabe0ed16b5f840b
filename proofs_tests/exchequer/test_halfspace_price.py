"""`exchequer price --halfspace`: its numbers are the library's, in the table and in JSON, and bad input is named."""

import json
from collections.abc import Mapping
from typing import cast

import pytest
from click.testing import CliRunner

from boosting.reweighted_sample import MAX_ROUNDS
from boosting.theory.sample_sizes import HalfspaceTask, best_sigma, by_margins, by_privacy
from exchequer.cli import main

OPTIONS = {"margin": "0.1", "dimension": "20", "error": "0.1", "failure": "0.05", "epsilon": "1", "delta": "1e-6"}
TASK = HalfspaceTask(margin=0.1, dimension=20, error=0.1, failure=0.05, epsilon=1.0, delta=1e-6)


def options(**changed: str | None) -> list[str]:
    """--halfspace with all that it needs; None leaves an option out."""
    given = {**OPTIONS, **changed}
    return ["--halfspace", *(part for name, text in given.items() if text is not None for part in (f"--{name}", text))]


def price(*arguments: str) -> str:
    result = CliRunner().invoke(main, ["price", *arguments], env={"COLUMNS": "80"})
    assert result.exit_code == 0, result.output
    return result.stdout


def price_json(*arguments: str) -> tuple[dict[str, object], dict[str, Mapping[str, object]]]:
    record: dict[str, object] = json.loads(price(*arguments, "--json"))
    theorems = cast("list[Mapping[str, object]]", record["theorems"])
    return record, {str(theorem["theorem"]): theorem for theorem in theorems}


def refused(*arguments: str) -> str:
    result = CliRunner().invoke(main, ["price", *arguments])
    assert (result.exit_code, result.stdout, result.stderr.count("\n")) == (2, "", 1)
    return result.stderr


def test_without_a_sigma_each_theorem_takes_its_best() -> None:
    record, theorems = price_json(*options())
    for name, route in (("33", by_privacy), ("30", by_margins)):
        size = best_sigma(TASK, route)
        told = theorems[name]
        assert (told["sigma"], told["records"], told["dominates"]) == (size.sigma, size.records, size.dominant)
        assert {term: told[term] for term in size.terms} == size.terms
        assert (told["rounds"], told["advantage"]) == (size.rounds, size.advantage)
        assert (told["margin"], told["fat_shattering"]) == (size.margin, size.fat_shattering)
    assert record["best"] == "30"
    assert {name: record[name] for name in OPTIONS} == {name: float(text) for name, text in OPTIONS.items()}
    assert record["noise_rate"] == 0.1 * 0.1 / 32.0


@pytest.mark.parametrize("rate", ["0", "0.0001", "0.0005"])
def test_a_given_sigma_and_noise_rate_are_taken(rate: str) -> None:
    record, theorems = price_json(*options(sigma="0.004"), "--noise-rate", rate)
    task = HalfspaceTask(0.1, 0.1, 0.05, 1.0, 1e-6, 20, float(rate))
    assert record["noise_rate"] == float(rate)
    for name, route in (("33", by_privacy), ("30", by_margins)):
        assert theorems[name]["sigma"] == 0.004
        assert theorems[name]["records"] == route(task, 0.004).records


def test_the_table_shows_the_same_within_80_columns() -> None:
    text = price(*options())
    _, theorems = price_json(*options())
    for told in theorems.values():
        for term in ("privacy", "generalisation", "label_noise", "records", "rounds"):
            assert f"{cast('int', told[term]):,}" in text
    assert "Theorem 33: privacy dominates." in text
    assert "Theorem 30: generalisation dominates." in text
    assert "Fewest: 3,738,758 by Theorem 30" in text
    assert "certifies at most" not in text
    many = price(*options(dimension="1000000", margin="0.01", error="0.01"))
    assert f"certifies at most {MAX_ROUNDS:,} rounds" in " ".join(many.split())
    for line in (*text.splitlines(), *many.splitlines()):
        assert len(line) <= 80


def test_delta_has_the_default_of_the_command() -> None:
    record, _ = price_json(*options(delta=None))
    assert record["delta"] == 1e-5


@pytest.mark.parametrize("name", ["margin", "dimension", "error", "failure", "epsilon"])
def test_what_is_missing_is_named(name: str) -> None:
    assert f"--halfspace needs --{name}" in refused(*options(**{name: None}))


def test_all_that_is_missing_is_named() -> None:
    told = refused("--halfspace", "--error", "0.1", "--epsilon", "1")
    assert "needs --margin and --dimension and --failure" in told


@pytest.mark.parametrize(
    ("arguments", "culprit"),
    [
        ((*options(), "--mechanism", "pure-dp:1"), "either --mechanism or --learner or --halfspace"),
        ((*options(), "--learner", "lazy-boost"), "either --mechanism or --learner or --halfspace"),
        ((*options(), "--rounds", "1"), "--rounds: not with --halfspace"),
        ((*options(), "--n", "100", "--density", "0.5"), "--n, --density: not with --halfspace"),
        ((*options(), "--learning-rate", "0.1"), "--learning-rate: not with --halfspace"),
        (("--mechanism", "pure-dp:1", "--margin", "0.1"), "--margin: only with --halfspace"),
        (
            ("--learner", "lazy-boost", "--n", "50", "--epsilon", "1", "--sigma", "1", "--noise-rate", "0"),
            "--sigma, --noise-rate: only with --halfspace",
        ),
        (options(margin="0"), "--margin"),
        (options(margin="nan"), "--margin"),
        (options(dimension="0"), "--dimension"),
        (options(dimension="2.5"), "--dimension"),
        (options(error="1.5"), "--error"),
        (options(failure="1"), "--failure"),
        (options(epsilon="0"), "--epsilon"),
        (options(delta="0"), "--delta"),
        (options(sigma="0"), "--sigma"),
        (options(sigma="1"), "too much noise"),
        ((*options(), "--noise-rate", "0.1"), "--noise-rate: expected a noise rate in [0, 0.00113636)"),
        ((*options(), "--noise-rate", "-1"), "--noise-rate"),
        (options(epsilon="1e-300"), "budget"),
        (options(margin="1e-200"), "no sigma will do"),
    ],
)
def test_bad_input_is_named(arguments: tuple[str, ...], culprit: str) -> None:
    assert culprit in refused(*arguments)
