"""`make mutants`: try every mutant of every module whose source or tests have changed since they were last tried.

What is tried is written down at once under build/mutation, so that an interrupted run goes on where it stopped. A
mutant of the same source that was killed by other tests is tried again, unless --survivors says to trust that.
"""

import argparse
import hashlib
import json
import os
import sys
import time
from collections.abc import Iterator, Sequence
from importlib.metadata import version
from pathlib import Path

from proofs_tests.mutation import records
from proofs_tests.mutation.mutants import Mutant, mutants_of
from proofs_tests.mutation.paths import ROOT, path_of
from proofs_tests.mutation.plan import PLAN, Subject
from proofs_tests.mutation.trials import Verdict, trial, warm_up

JOURNAL = ROOT / "build/mutation"
TOOL = f"mutmut {version('mutmut')}, libcst {version('libcst')}"


class Journal:
    """Verdicts on mutants, by the digest of their whole source, with the tests that came to them."""

    def __init__(self, path: Path, tests: str, *, trusting: bool) -> None:
        self._path, self._tests = path, tests
        self._known: dict[str, Verdict] = {}
        for line in path.read_text().splitlines() if path.exists() else []:
            mutant, with_tests, verdict = json.loads(line)
            if with_tests == tests or (trusting and verdict != "survived"):
                self._known[mutant] = verdict
            else:
                self._known.pop(mutant, None)

    def known(self, mutant: Mutant) -> Verdict | None:
        """What is on record."""
        return self._known.get(_digest(mutant))

    def add(self, mutant: Mutant, verdict: Verdict) -> None:
        """Write it down."""
        self._path.parent.mkdir(parents=True, exist_ok=True)
        with self._path.open("a") as file:
            file.write(json.dumps([_digest(mutant), self._tests, verdict]) + "\n")


def _digest(mutant: Mutant) -> str:
    return hashlib.sha256(mutant.source.encode()).hexdigest()[:24]


def _verdicts(module: str, subject: Subject, journal: Journal) -> Iterator[tuple[Mutant, Verdict]]:
    source = path_of(module).read_text()
    before = time.process_time() + sum(os.times()[2:4])
    if trial(module, source, subject.tests, 600.0, sys.stderr.write) != "survived":
        raise SystemExit(f"{module}: its own tests fail, or take too long: {' '.join(subject.tests)}")
    seconds = time.process_time() + sum(os.times()[2:4]) - before
    for mutant in mutants_of(module, source, subject.skipped):
        verdict = journal.known(mutant)
        if verdict is None:
            verdict = trial(module, mutant.source, subject.tests, 2.0 + 5.0 * seconds)
            journal.add(mutant, verdict)
        yield mutant, verdict


def run(module: str, *, trusting: bool) -> records.Result:
    """Try all mutants of a module, put the result on record, and say what lives."""
    subject, started = PLAN[module], time.monotonic()
    tests = records.tests_digest(subject.tests)
    verdicts = list(_verdicts(module, subject, Journal(JOURNAL / f"{module}.jsonl", tests, trusting=trusting)))
    said = [verdict for _, verdict in verdicts]
    result = records.Result(
        module=module,
        source=records.source_digest(module),
        tests=tests,
        tried=len(said),
        killed=len(said) - said.count("survived"),
        timeouts=said.count("timeout"),
        seconds=round(time.monotonic() - started),
        tool=TOOL,
    )
    alive = records.with_reasons(module, (mutant.key for mutant, verdict in verdicts if verdict == "survived"))
    records.write_survivors(alive)
    records.write_results({**records.results(), module: result})
    for each in alive:
        if each.module == module and not each.reason:
            sys.stdout.write(f"  lives: {each.definition}: {each.before}\n      as {each.after}\n")
    return result


def table() -> str:
    """What is on record, as Markdown."""
    lines = ["| module | mutants | killed | by time | alive |", "| --- | --- | --- | --- | --- |"]
    older = records.older_code()
    for each in records.results().values():
        name = each.module + (" (of older code)" if each.module in older else "")
        lines.append(f"| {name} | {each.tried} | {each.killed} | {each.timeouts} | {each.tried - each.killed} |")
    return "\n".join(lines)


def main(arguments: Sequence[str]) -> int:
    """1 where a mutant lives that nobody has explained."""
    parser = argparse.ArgumentParser(prog="python -m proofs_tests.mutation", description=__doc__)
    parser.add_argument("modules", nargs="*", default=list(PLAN), help="only these")
    parser.add_argument("--force", action="store_true", help="also modules that have not changed, from the start")
    parser.add_argument("--table", action="store_true", help="only print what is on record, as Markdown")
    parser.add_argument("--survivors", action="store_true", help="trust older tests on what they killed")
    chosen = parser.parse_args(arguments)
    if chosen.table:
        sys.stdout.write(table() + "\n")
        return 0
    os.chdir(ROOT)
    warm_up()
    older = records.older_code()
    for module in chosen.modules:
        if module not in older and not chosen.force:
            sys.stdout.write(f"{module}: unchanged\n")
            continue
        if chosen.force:
            (JOURNAL / f"{module}.jsonl").unlink(missing_ok=True)
        result = run(module, trusting=chosen.survivors)
        sys.stdout.write(f"{module}: {result.killed} of {result.tried} killed, in {result.seconds:.0f} s\n")
        sys.stdout.flush()
    return int(any(not each.reason for each in records.survivors()))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
