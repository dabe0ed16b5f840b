"""Our `verify` and the independent verifier of `verifier/` on random ledgers and random forgeries of each.

`python -m proofs_tests.support.programs.two_verifiers 10000 [SEED]` prints what was compared, and every disagreement.
"""

import importlib.util
import math
import random
import sys
import time
from collections import Counter
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from types import ModuleType

import attrs

from accountant import Entry, verify
from accountant.costs import Budget
from accountant.entries import State, decode
from accountant.witnesses import WriterSignatures
from proofs_tests.support.ledgers.forged_signatures import SIGNED_FORGERIES
from proofs_tests.support.ledgers.forgeries import FORGERIES
from proofs_tests.support.ledgers.random_ledgers import random_ledger

VERIFIER = Path(__file__).parents[3] / "verifier" / "exchequer_verifier.py"
SIGNED = {each.__name__ for each in SIGNED_FORGERIES}


@cache
def independent() -> ModuleType:
    """The independent verifier, which is no part of this package, and has its formulas beside it."""
    sys.path.insert(0, str(VERIFIER.parent))
    spec = importlib.util.spec_from_file_location("exchequer_verifier", VERIFIER)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def theirs(entries: Sequence[Entry], head: str = "") -> tuple[str, str, dict[str, object] | None]:
    """Its verdict, why, and what it says was spent."""
    module = independent()
    rows = [(entry.number, entry.kind, entry.line, entry.digest) for entry in entries]
    try:
        verdict, why, ledger = module.verify(rows, head)
    except NotImplementedError as error:
        return "unreadable", str(error), None
    return verdict, "; ".join(why), ledger.spent() if verdict in ("sound", "with caveats") else None


def ours(entries: Sequence[Entry], head: str = "") -> tuple[str, str, Budget | None]:
    """The same of `verify`."""
    found = verify(entries, expect_head=head or None)
    if not found.sound:
        return found.verdict, "; ".join(found.errors[:3]), None
    state = State()
    for entry in entries:
        state.apply(entry.number, decode(entry))
    return found.verdict, "", state.rule.guarantee(state.total, state.budget)


def disagreement(entries: Sequence[Entry], head: str = "") -> str | None:
    """What the two say of a ledger, where it is not the same."""
    return _difference(ours(entries, head), theirs(entries, head)) or _other_signers(entries)


def _difference(one: tuple[str, str, Budget | None], other: tuple[str, str, dict[str, object] | None]) -> str | None:
    (verdict, why, spent), (their_verdict, reason, also) = one, other
    if verdict != {"unreadable": "cannot be checked"}.get(their_verdict, their_verdict):
        return f"{verdict} ({why}), theirs {their_verdict} ({reason})"
    if spent is None or also is None:
        return None
    said = {name: value for name, value in spent.as_dict().items() if name != "kind"}
    close = all(math.isclose(value, also[name], rel_tol=1e-9, abs_tol=1e-12) for name, value in said.items())  # type: ignore[arg-type]  # numbers
    return None if close and spent.kind == also["kind"] else f"spent {spent}, theirs {also}"


def _other_signers(entries: Sequence[Entry]) -> str | None:
    """Who signed how many charges of a sound ledger, and which nobody signed, where the two do not say the same."""
    writers = WriterSignatures()
    if not any(entry.kind == "signed" for entry in entries) or not verify(entries, writers=writers).sound:
        return None
    also = independent().verify([attrs.astuple(entry) for entry in entries])[2].writers
    same = writers.signed == also.signed and {*writers.unsigned} == also.unsigned
    return None if same else f"signed {writers.signed}, {[*writers.unsigned]}; theirs {also.signed}, {also.unsigned}"


def is_allowed(entries: Sequence[Entry]) -> bool:
    """Whether all that `verify` finds is a total above a converted budget's ceiling, by no more than a millionth.

    The independent verifier says that it allows this, as no two programs find the same last digits of such a ceiling.
    """
    errors = verify(entries).errors
    if not errors or not all(error.endswith("it takes the total above the budget") for error in errors):
        return False
    state = State()
    for entry in entries:
        state.apply(entry.number, decode(entry))
    (total, _), (ceiling, _) = state.root.committed, state.root.ceiling
    converted = state.budget.kind == "approx-dp" and state.rule.name != "basic"
    return converted and ceiling < total <= ceiling + (ceiling >> 20)


def compare(seed: int) -> tuple[Counter[str], list[str]]:
    """One ledger, and one forgery of it: how often what was compared, and where the two disagree."""
    draw, counts, found = random.Random(seed), Counter[str](), list[str]()
    entries = random_ledger(draw)
    head = entries[-1].digest
    cases = [("as it was", entries, "")]
    if draw.random() < 0.07:
        cases.append(("replayed_prefix", entries[: draw.randrange(1, len(entries) + 1)], head))
    names = draw.sample(list(FORGERIES), len(FORGERIES))
    if (chance := draw.random()) < 0.8:  # those that few ledgers allow come first
        names.sort(key=lambda name: name not in (["a_lower_price"] if chance < 0.3 else SIGNED))
    for name in names if len(cases) == 1 else ():
        if (forged := FORGERIES[name](entries, draw)) is not None:
            cases.append((name, forged, ""))
            break
    counts["of which are signed"] += any(entry.kind in ("key", "signed") for entry in entries)
    for what, each, expected in cases:
        verdict = ours(each, expected)
        counts[f"{what}: {verdict[0]}"] += 1
        difference = _difference(verdict, theirs(each, expected))
        if verdict[0] in ("sound", "with caveats"):
            difference = difference or _other_signers(each)
        if difference is not None and is_allowed(each):
            counts[f"{what}: above a ceiling, by less than the independent verifier finds"] += 1
        elif difference is not None:
            found.append(f"seed {seed}, {what}: {difference}")
        if each is entries and verdict[0] == "not sound":
            found.append(f"seed {seed}: the ledger itself is not sound: {verdict[1]}")
    return counts, found


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")


def main() -> None:
    """Compare, and print."""
    many, first, begun = int(sys.argv[1]), int([*sys.argv, "0"][2]) if len(sys.argv) > 2 else 0, time.monotonic()
    counts, found = Counter[str](), list[str]()
    for seed in range(first, first + many):
        more, wrong = compare(seed)
        counts.update(more)
        found += wrong
    for what, number in sorted(counts.items()):
        _say(f"{number:7,}  {what}")
    for line in found[:40]:
        _say(line)
    _say(f"{many:,} ledgers, {len(found)} disagreements, {time.monotonic() - begun:.0f} s")
    sys.exit(bool(found))


if __name__ == "__main__":
    main()
