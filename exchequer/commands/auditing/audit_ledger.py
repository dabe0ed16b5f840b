"""`exchequer ledger verify` and `export`, and `exchequer verify-model`: what an auditor asks of a ledger."""

import contextlib
import json
import re
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import IO, TYPE_CHECKING, Final

import attrs
import click

from accountant import Entry, LedgerBroken, Unbounded
from accountant.audit import (
    Accumulator,
    ModelComparison,
    Verdict,
    Verification,
    compare_model,
    in_symbols,
    read_model_claim,
    verify,
    verify_since,
)
from accountant.audit.report import ClaimText
from accountant.entries import Opened, PublicKey, decode, whole_file, write_export
from exchequer.commands.auditing.installed_claims import GROUP, known_claims
from exchequer.commands.auditing.outside_evidence import Outside, signature_record, with_evidence
from exchequer.commands.auditing.policy_check import held_against, policy_record, policy_to_hold, print_policy
from exchequer.commands.ledgers.open_ledger import ReadingFailed, StoredEntries, reading, until_failure
from exchequer.console import output
from exchequer.console.input_errors import refuse_overwriting

if TYPE_CHECKING:
    from accountant.audit.second_opinion import SecondOpinion
    from accountant.policies import PolicyCheck
    from accountant.witnesses import Examination, WriterSignatures

SOUND, NOT_SOUND, NO_ANSWER, WITH_CAVEATS = 0, 1, 2, 3
"""Exit codes; 2 is also for input that nothing can be said about."""

CODES: Final[Mapping[Verdict, int]] = {
    "sound": SOUND,
    "with caveats": WITH_CAVEATS,
    "not sound": NOT_SOUND,
    "cannot be checked": NO_ANSWER,
}
COLOURS: Final[Mapping[Verdict, str]] = {
    "sound": "green",
    "with caveats": "yellow",
    "not sound": "red",
    "cannot be checked": "yellow",
}

SAID: Final[Mapping[Verdict, str]] = {
    "sound": "sound",
    "with caveats": "adds up, WITH CAVEATS",
    "not sound": "NOT SOUND",
    "cannot be checked": "CANNOT BE CHECKED HERE",
}

CONFIRMED: Final[Mapping[Verdict, str]] = {
    "sound": "its claim is what the ledger says",
    "with caveats": "its claim is what the ledger says, WITH CAVEATS",
    "not sound": "NOT CONFIRMED by the ledger",
    "cannot be checked": "NOT CONFIRMED, as the ledger cannot be checked here",
}

NO_REGISTRY: Final = f"claim ids were not checked: no registry of claims is installed (entry points of {GROUP})"
NO_OPINION: Final = "no second opinion: it would add up entries that are not sound"
NOTHING_TO_ADD: Final = "no second opinion: this ledger promises nothing, so there is no total to compare"

NOTHING_OUTSIDE: Final = Outside()
"""Nothing is held against a ledger from outside of it."""

_DIGEST: Final = re.compile(r"[0-9a-f]{64}")


# --- verify ----------------------------------------------------------------------------------------------------


@attrs.frozen
class Audited:
    """What was found. second: what the other accountant says; None where nobody asked, or the ledger is not sound.

    evidence: what witnesses say, where any are asked.  writers: who signed what.
    """

    verification: Verification
    second: "SecondOpinion | None" = None
    evidence: "Examination | None" = None
    writers: "WriterSignatures | None" = None

    @property
    def errors(self) -> tuple[str, ...]:
        """What must not be, of both accountants."""
        other = () if self.second is None else self.second.disagreements
        return (*self.verification.errors, *(f"second opinion: {text}" for text in other))

    @property
    def result(self) -> Verification:
        """The verification, with the errors of both accountants."""
        return attrs.evolve(self.verification, errors=self.errors)

    def title(self, name: str) -> str:
        """The verdict in a line."""
        return f"{name}: {SAID[self.result.verdict]}, {self.result.entries} entries"

    def code(self, strict: bool) -> int:
        """The exit code. strict: caveats and notes count as findings."""
        code = CODES[self.result.verdict]
        return NOT_SOUND if strict and code != NO_ANSWER and self.result.findings else code


def digest(option: str, text: str) -> str:
    """A digest as somebody kept it. Raises ValueError."""
    kept = text.strip().lower()
    if not _DIGEST.fullmatch(kept):
        raise ValueError(f"{option}: expected 64 hexadecimal digits, got {text!r}")
    return kept


def audited(
    entries: StoredEntries,
    claims: dict[str, ClaimText] | None,
    expect_head: str | None,
    second: bool,
    *accumulators: Accumulator,
    outside: Outside = NOTHING_OUTSIDE,
) -> Audited:
    """Verify the ledger, and ask for the second opinion where it is sound. accumulators: are told what it says."""
    failures: list[str] = []
    examiner, writers = outside.examiner(), outside.writers()
    passing = until_failure(entries, failures)
    with output.entries_bar("verifying", len(entries)) as progress:
        found = verify(
            passing if examiner is None else examiner.watch(passing),
            *accumulators,
            expect_head=expect_head,
            claims=claims,
            progress=progress,
            writers=writers,
        )
    evidence = None if examiner is None else examiner.examination()
    found = found if evidence is None else with_evidence(found, evidence)
    notes = [*found.notes, *([NO_REGISTRY] if claims is None else [])]
    why_not = NO_OPINION if not found.sound or failures else NOTHING_TO_ADD if _promise_nothing(entries) else ""
    if second and why_not:
        notes.append(why_not)
    found = attrs.evolve(found, errors=(*failures, *found.errors), notes=tuple(notes))
    return Audited(found, _second_opinion(entries) if second and not why_not else None, evidence, writers)


def _promise_nothing(entries: StoredEntries) -> bool:
    """Whether a sound ledger has no budget that could be kept."""
    opened = decode(entries[0])
    return isinstance(opened, Opened) and isinstance(opened.budget, Unbounded)


def _second_opinion(entries: StoredEntries) -> "SecondOpinion":
    from accountant.audit.second_opinion import second_opinion  # it takes dp-accounting along, where that is installed

    return second_opinion(entries)


def verify_ledger(
    location: str,
    expect_head: str | None,
    *,
    second: bool,
    policy: Path | None = None,
    strict: bool,
    as_json: bool,
    outside: Outside = NOTHING_OUTSIDE,
) -> int:
    """Print what is wrong with the ledger, and what somebody should know; the exit code."""
    expected = None if expect_head is None else digest("--expect-head", expect_head)
    rules = None if policy is None else policy_to_hold(policy)
    with reading(location) as entries:
        found = audited(entries, known_claims(), expected, second, outside=outside)
        held = held_against(entries, rules, sound=found.result.sound)
    if isinstance(held, str):
        noted = attrs.evolve(found.verification, notes=(*found.verification.notes, held))
        found, held = attrs.evolve(found, verification=noted), None
    return tell(found, entries.name, strict=strict, as_json=as_json, held=held)


def tell(
    found: Audited, name: str, *, strict: bool, as_json: bool, held: "PolicyCheck | None" = None, **more: object
) -> int:
    """Print what was found, and return the exit code. more: for JSON.  held: what broke a policy, if one was asked."""
    code = NOT_SOUND if held is not None and held.breaches else found.code(strict)
    if as_json:
        said = {**_as_dict(found), **policy_record(held), **more}
        _print_json({"ledger": name, **said, "strict": strict, "exit_code": code})
        return code
    print_verdict(found, found.title(name))
    print_policy(held)
    if found.second is not None:
        _print_opinion(found.second)
    if strict and code and not found.errors:
        output.paragraph("\n--strict: caveats and notes count as findings.")
    return code


def verify_new_part(location: str, since: str, *, strict: bool, as_json: bool) -> int:
    """Print what is wrong with what is new since a kept head; the exit code, as `verify_ledger` has it."""
    kept, claims = digest("--since", since), known_claims()
    with reading(location) as entries, output.entries_bar("verifying", len(entries)) as progress:
        try:
            part = verify_since(entries, kept, claims=claims, progress=progress)
        except ReadingFailed as error:  # in the middle, where the file is damaged
            raise LedgerBroken(f"{error}; verify without --since lists everything that is wrong") from error
    notes = (*part.verification.notes, *([NO_REGISTRY] if claims is None else []))
    found = Audited(attrs.evolve(part.verification, notes=notes))
    code = found.code(strict)
    if as_json:
        said = {"head": kept, "new": part.new, "checkpoint": part.start or None}
        _print_json({"ledger": entries.name, **_as_dict(found), "since": said, "strict": strict, "exit_code": code})
        return code
    new = f" since the kept head, {part.new} new of {found.result.entries} entries"
    new = ", the kept head is unknown" if part.new is None else new
    print_verdict(found, f"{entries.name}: {SAID[found.result.verdict]}{new}")
    return code


def _as_dict(found: Audited) -> dict[str, object]:
    return {
        "sound": found.result.sound,
        "verdict": found.result.verdict,
        "entries": found.result.entries,
        "head": found.result.head,
        "errors": list(found.errors),
        **({"unchecked": found.result.unchecked} if found.result.unchecked else {}),
        "caveats": list(found.result.caveats),
        "notes": list(found.result.notes),
        "second_opinion": None if found.second is None else found.second.as_dict(),
        **({} if found.evidence is None else {"evidence": [each.as_dict() for each in found.evidence.findings]}),
        **({"signatures": signature_record(found.writers)} if found.writers and found.writers.entries else {}),
    }


def print_verdict(found: Audited, title: str) -> None:
    """Print a verdict, and all that was found."""
    result = found.result
    output.title(title, COLOURS[result.verdict])
    output.facts([*result.findings, ("head", result.head)])


def _print_opinion(second: "SecondOpinion") -> None:
    output.heading(f"A second opinion, at delta {second.delta:g}: it {'agrees' if second.agrees else 'DISAGREES'}")
    output.table(["accountant", "epsilon", "delta", ""], second.rows(), numbers=["epsilon", "delta"])
    for text in second.explanations:
        output.paragraph(text)


# --- export -----------------------------------------------------------------------------------------


def write_entries(location: str, out: str, *, force: bool) -> None:
    """Write all entries as JSON Lines, sound or not. out: a path, or "-" for standard output."""
    if out != "-":
        refuse_overwriting(Path(out), force)
    with reading(location) as entries, output.entries_bar("exporting", len(entries)) as progress, target(out) as file:
        header = write_export(_counted(entries, progress), file)
    output.note(f"{header.entries} entries of {entries.name}, head {header.head}")


@contextlib.contextmanager
def target(out: str) -> Iterator[IO[str]]:
    """Where entries go: a file that is there whole or not at all, or standard output for "-"."""
    if out == "-":
        yield sys.stdout
        return
    with whole_file(out) as file:
        yield file


def _counted(entries: StoredEntries, progress: Callable[[int], None]) -> Iterator[Entry]:
    for number, entry in enumerate(entries, 1):
        progress(number)
        yield entry


# --- verify-model ----------------------------------------------------------------------------------------------


def verify_model(model: Path, location: str, public_key: Path | None, *, as_json: bool) -> int:
    """Compare what a model says about its cost with the ledger; the exit code."""
    claim = read_model_claim(model)
    failures: list[str] = []
    try:
        key = None if public_key is None else PublicKey.load(public_key)
        with reading(location) as entries, output.entries_bar("reading", len(entries)) as progress:
            found = compare_model(claim, until_failure(entries, failures), public_key=key, progress=progress)
    except ImportError as error:
        raise ValueError(str(error)) from error
    found = attrs.evolve(found, errors=(*failures, *found.errors))
    if as_json:
        _print_json({"model": str(model), "ledger": entries.name, **_comparison(found)})
    else:
        _print_comparison(found, model, entries.name)
    return CODES[found.result.verdict]


def _comparison(found: ModelComparison) -> dict[str, object]:
    costs = {"fit": found.fit, "spent": found.spent, "budget": found.budget}
    return {
        "sound": found.sound,
        "verdict": found.result.verdict,
        "compared": found.compared,
        "bound": found.bound,
        **{name: None if cost is None else cost.as_dict() for name, cost in costs.items()},
        "errors": list(found.errors),
        "caveats": list(found.caveats),
        "notes": list(found.notes),
        "entries": found.entries,
        "head": found.head,
    }


def _print_comparison(found: ModelComparison, model: Path, name: str) -> None:
    verdict = found.result.verdict
    output.title(f"{model}: {CONFIRMED[verdict]}, {name}", COLOURS[verdict])
    costs = (("its charges cost", found.fit), ("the ledger spent", found.spent), ("of its budget", found.budget))
    output.facts([(what, in_symbols(cost)) for what, cost in costs if cost is not None])
    if found.sound:
        word = "the key that signed its receipts" if found.bound else "whoever saved the file"
        output.paragraph(f"That these charges bought this model, and no other, is the word of {word}.")
    output.facts([*found.result.findings, ("head", found.head)])


def _print_json(record: dict[str, object]) -> None:
    click.echo(json.dumps(record, indent=1, allow_nan=False))
