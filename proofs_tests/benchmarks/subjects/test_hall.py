"""The hall of audits: its programs are well formed without their libraries, and AUDITS.md keeps to what was found."""

import ast
import re
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from benchmarks.hall_programs import open_dp, serve_programs
from benchmarks.hall_programs.program import Program, plain, singles
from benchmarks.kit.hall import LIBRARIES, audited, claim, parts, verdict
from benchmarks.peers import Worker
from benchmarks.runner.audit_figures import AUDITS, VERDICTS, rows
from benchmarks.runner.readme import MARKED, NotThere, filled
from benchmarks.runner.results import AUDITED, outcomes
from benchmarks.runner.suite import Setting

TEXT = AUDITED.read_text(encoding="utf-8")
PROGRAMS = [(module, program) for module in LIBRARIES for program in module.PROGRAMS]


def test_there_are_ten_libraries_with_three_programs_each() -> None:
    assert len({module.LIBRARY for module in LIBRARIES}) >= 10
    assert all(len(module.PROGRAMS) >= 3 for module in LIBRARIES)
    for module in LIBRARIES:
        names = [program.name for program in module.PROGRAMS]
        assert len(set(names)) == len(names)
        assert module.PINS[0].startswith(f"{module.LIBRARY}==")
        assert all("==" in pin for pin in module.PINS)


@pytest.mark.parametrize(("module", "program"), PROGRAMS, ids=[f"{m.LIBRARY}: {p.name}" for m, p in PROGRAMS])
def test_a_program_says_what_it_claims_where_and_of_whom(module: object, program: Program) -> None:
    assert program.pairs
    assert program.source
    assert program.neighbours
    assert repr(serve_programs.claimed(program))
    assert claim(program)
    assert all(before != after for before, after in program.pairs)
    assert program.samples >= 64


def test_a_claim_of_half_is_refuted_and_the_claim_is_not() -> None:
    program = next(each for each in open_dp.PROGRAMS if each.name == "randomized response")
    half = replace(program, numbers=(program.numbers[0] / 2.0,))
    with Worker(serve_programs, Path(sys.executable), "open_dp") as worker:
        assert verdict(half, audited(worker, half, 4_000)).startswith("refuted: loss ≥ 0.")
        assert verdict(program, audited(worker, program, 4_000)).startswith("not refuted: a factor of")


def test_the_quick_form_needs_no_other_library(tmp_path: Path) -> None:
    (part,) = parts(Setting(None, True, tmp_path))
    assert part.name == "opendp"
    assert [part.name for part in parts(Setting(None, False, tmp_path))] == [
        module.PINS[0].replace("==", " ") for module in LIBRARIES
    ]


def test_outputs_become_plain() -> None:
    given = {1: (np.float64(0.5), np.array([[True, False]]), {2, 1})}
    assert plain(given) == {"1": [0.5, [[True, False]], [1, 2]]}
    assert singles(0, 1, 2) == (((0,), (1,)), ((0,), (2,)), ((1,), (2,)))


# --- AUDITS.md ----------------------------------------------------------------------------------------------------


def test_the_table_is_that_of_the_last_full_run() -> None:
    assert filled(TEXT, outcomes(), AUDITS) == TEXT
    assert {match[2] for match in MARKED.finditer(TEXT)} == set(AUDITS)
    with pytest.raises(NotThere, match="no run of hall"):
        filled(TEXT, {}, AUDITS)


def test_every_program_is_in_the_table_with_a_verdict() -> None:
    found = {(row["library"], row["program"]): row for row in rows(outcomes())}
    for module, program in PROGRAMS:
        row = found.pop((module.PINS[0].replace("==", " "), program.name))
        assert row["verdict"].startswith(VERDICTS)
        assert row["claim"] == claim(program)
        assert row["neighbours"] == program.neighbours
    assert not found


SECTIONS = {part.partition("\n")[0]: part for part in re.split(r"^## ", TEXT, flags=re.MULTILINE)[1:]}
FINDINGS = {title: part for title, part in SECTIONS.items() if "```python" in part}


def test_what_was_refuted_is_told_of_in_a_section() -> None:
    told = "".join(part for title, part in SECTIONS.items()).partition("<!-- figures")[0]
    for row in rows(outcomes()):
        if not row["verdict"].startswith("not"):
            assert row["library"] in told or row["library"].replace("pure-ldp", "pure-LDP") in told, row


MOST_LINES = {"S-BDT": 20, "PrivateGBDT": 16}
"""A class whose forty settings have no defaults; and two findings in one program."""


@pytest.mark.parametrize("title", FINDINGS)
def test_a_finding_has_all_that_a_maintainer_needs(title: str) -> None:
    part = FINDINGS[title]
    said = re.findall(r"^- \*\*([\w ]+)\*\*:", part, re.MULTILINE)
    assert said == ["Version", "Claim", "What goes wrong", "Size", "Suggested change", "Known before"]
    (block,) = re.findall(r"```python\n(.*?)```", part, re.DOTALL)
    assert block.count("\n") <= MOST_LINES.get(title.partition(":")[0], 15)
    names = {alias.name for node in ast.walk(ast.parse(block)) if isinstance(node, ast.Import) for alias in node.names}
    assert not names & {"exchequer", "accountant", "proofs_tests"}


def test_links_within_the_page_lead_somewhere() -> None:
    anchors = {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in SECTIONS}
    links = set(re.findall(r"\]\(#([^)]+)\)", TEXT))
    assert links <= anchors, links - anchors
