"""`exchequer ledger report --from/--to` and `--anchors`: a window beside the whole ledger, and what witnesses say."""

import re
from pathlib import Path

from proofs_tests.exchequer.test_outlook_commands import steady as steady
from proofs_tests.support.ledgers.ledger_runs import folder as folder
from proofs_tests.support.ledgers.ledger_runs import refused, said

OPEN = ("--from", "2026-01-03", "--to", "2026-01-06")


def report(*options: str, code: int = 3) -> str:
    """Its text, without marks and with single spaces; the noise of that ledger is simulated."""
    said("report", "study.db", "--out", "r.html", "--force", *options, code=code)
    html = Path("r.html").read_text(encoding="utf-8")
    return " ".join(re.sub("<[^>]+>", " ", html.partition("<body")[2]).split())


def test_a_window_adds_up_to_the_whole_ledger(steady: int) -> None:
    found = report(*OPEN)
    assert "With a look at the time from 2026-01-03 00:00:00 UTC to 2026-01-06 00:00:00 UTC, not included" in found
    inside = re.search(r"not included, ([0-9,]+) charges were made, which lose ε = ([0-9.]+)", found)
    assert inside is not None
    rows = re.findall(r"(Before|In it|After|Together) ([0-9]+) Σε = ([0-9.]+)", found)
    counts = {name: int(charges) for name, charges, _ in rows}
    sums = {name: float(spent) for name, _, spent in rows}
    assert counts["Before"] + counts["In it"] + counts["After"] == counts["Together"] == 15
    assert sums["Before"] + sums["In it"] + sums["After"] == sums["Together"] == 3.125
    assert int(inside[1]) == counts["In it"] > 0
    assert float(inside[2]) == sums["In it"]
    assert "ε = 3.125" in found  # of the whole ledger, on the first page


def test_without_a_window_nothing_is_said_of_one(steady: int) -> None:
    assert "With a look at" not in report()
    assert "A window of time" not in report()


def test_a_window_that_is_none_is_refused_before_anything_is_written(steady: int) -> None:
    assert "--from 2026-03 is not before --to 2026-01" in refused(
        "report", "study.db", "--out", "r.html", "--from", "2026-03", "--to", "2026-01"
    )
    assert not Path("r.html").exists()


def test_evidence_from_outside_lights_the_lamp_and_contradictions_put_it_out(steady: int) -> None:
    assert "Kept head or witness: not checked" in report()
    said("anchor", "study.db", "--out", "kept.jsonl")
    found = report("--anchors", "kept.jsonl")
    assert "Kept head or witness: confirmed" in found
    assert "From outside 1 piece of evidence holds, the newest on entry " in found
    line = Path("kept.jsonl").read_text(encoding="ascii")
    Path("kept.jsonl").write_text(re.sub(r'"head":"[0-9a-f]{8}', '"head":"00000000', line), encoding="ascii")
    broken = report("--anchors", "kept.jsonl", code=1)
    assert "Kept head or witness: confirmed" not in broken
    assert "Kept head or witness: not checked" not in broken
