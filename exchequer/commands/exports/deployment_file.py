"""`exchequer ledger deployment`: a record for the deployments registry, as YAML."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Final

from accountant.audit.breakdowns import ChargeFacts, Question, asked_charges
from accountant.costs import Description, Unbounded, open_probability
from accountant.entries import Entry, Opened, Released, decode, whole_file
from exchequer.commands.auditing import audit_ledger
from exchequer.commands.auditing.installed_claims import known_claims
from exchequer.commands.auditing.spent_ledger import condition
from exchequer.commands.exports.deployment_record import NEW, TODO, Deployment, deployment_record
from exchequer.commands.exports.deployment_rules import problems
from exchequer.commands.ledgers.open_ledger import StoredEntries, reading, replayed
from exchequer.console import output
from exchequer.console.input_errors import checked, refuse_overwriting

if TYPE_CHECKING:
    import yaml

REGISTRY_NAME: Final = re.compile(r"[a-z0-9_]+\.yaml")
"""What the registry wants a file to be called."""

HEADING: Final = (
    "# A record for https://github.com/opendp/deployments-registry-data, made from a ledger by Exchequer.\n"
    "# Everything marked TODO is for people to say. Not written: data_product_sector (Technology, Healthcare,\n"
    "# Education, Government, Energy or Finance), as the ledger does not know it.\n"
)


def write_deployment(location: str, out: Path, wanted: Sequence[str], delta: float, *, force: bool) -> int:
    """Write the record; the exit code is that of `ledger verify`, and nothing is written of a ledger that is unsound.

    Raises ValueError where no charge is asked for, where one drew simulated noise, and where nothing is promised.
    """
    writer = _yaml()
    refuse_overwriting(out, force)
    checked("--delta", open_probability, delta)
    question = Question(where=dict(map(condition, wanted)))
    with reading(location) as entries:
        audited = audit_ledger.audited(entries, known_claims(), None, False)
        if audited.result.verdict in ("not sound", "cannot be checked"):
            output.title(audited.title(entries.name), audit_ledger.COLOURS[audited.result.verdict])
            output.facts(audited.result.findings)
            output.paragraph("\nNo record was written: it would be made of entries that are not sound.")
            return audited.code(strict=False)
        found = _gathered(entries, question)
    record = deployment_record(found, delta)
    if wrong := problems(record):
        raise ValueError(f"the record would break the registry's rules: {'; '.join(wrong[:3])}")
    text = HEADING + _with_comments(writer, _dumped(writer, record))
    with whole_file(out) as file:
        file.write(text)
    output.paragraph(f"The record is in {out}; {text.count(TODO.strip()) - 1} places are left to people, each a TODO.")
    if not REGISTRY_NAME.fullmatch(out.name):
        output.note("the registry wants file names of lower-case letters, digits and _, ending in .yaml")
    return audited.code(strict=False)


def _yaml() -> ModuleType:
    try:
        import yaml
    except ImportError as error:
        raise ValueError("a record is written as YAML by PyYAML: pip install 'exchequer[exports]'") from error
    return yaml


# --- gathering -------------------------------------------------------------------------------------------------


def _gathered(entries: StoredEntries, question: Question) -> Deployment:
    reading = replayed(entries)
    opened, state = decode(entries[0]), reading.state
    assert isinstance(opened, Opened), "a ledger that is sound was opened"
    if isinstance(opened.budget, Unbounded):
        raise ValueError("this ledger promises nothing, so there is no deployment of differential privacy to record")
    charges = asked_charges(entries, question)
    if not charges:
        raise ValueError("no charge is asked for: see `exchequer ledger spent` for what charges say")
    _refuse_simulated(charges)
    spent = state.rule.guarantee(state.total, state.budget)
    used = _used(entries, charges)
    return Deployment(opened, charges, used, len(entries), reading.head, spent, question.where)


def _refuse_simulated(charges: Iterable[ChargeFacts]) -> None:
    if simulated := [str(charge.number) for charge in charges if charge.simulated]:
        listed = ", ".join(simulated[:5]) + (", ..." if len(simulated) > 5 else "")
        raise ValueError(
            f"entry {listed}: simulated noise, which is not private; a record would claim that it is. Choose other "
            "charges with --where"
        )


def _used(entries: Iterable[Entry], charges: Iterable[ChargeFacts]) -> Mapping[Description, int]:
    """What these charges really drew, and in how many rounds; what was announced where nothing was drawn yet."""
    used, by_number = Counter[Description](), {charge.number: charge for charge in charges}
    drawn = set[int]()
    for entry in entries:
        record = decode(entry) if entry.kind == "released" else None
        if isinstance(record, Released) and record.charge in by_number and record.used:
            drawn.add(record.charge)
            for mechanism, rounds in record.used:
                used[mechanism] += rounds
    for number, charge in by_number.items():
        if number not in drawn and charge.record.mechanism is not None:
            used[charge.record.mechanism] += charge.rounds
    return used


# --- writing ---------------------------------------------------------------------------------------------------


def _dumped(writer: ModuleType, record: Mapping[str, object]) -> str:
    """As YAML, texts of several lines as they stand; the registry refuses folded ones."""

    class Dumper(writer.SafeDumper):  # type: ignore[name-defined, misc]  # loaded on demand
        pass

    def text(dumper: "yaml.SafeDumper", value: str) -> "yaml.Node":
        return dumper.represent_scalar("tag:yaml.org,2002:str", value, style="|" if "\n" in value else None)

    Dumper.add_representer(str, text)
    dumped: str = writer.dump(record, Dumper=Dumper, sort_keys=False, allow_unicode=True, width=float("inf"))
    return dumped


def _with_comments(writer: ModuleType, text: str) -> str:
    """The same, with what a person has to look at beside values of enumerations."""
    root, lines = writer.compose(text, Loader=writer.SafeLoader), text.split("\n")
    for path, comment in NEW.items():
        line = _line(root, ("deployment", *path))
        lines[line] += f"  # {comment}"
    return "\n".join(lines)


def _line(node: "yaml.Node", path: tuple[str, ...]) -> int:
    """Where the value at this path ends."""
    for name in path:
        node = next(value for key, value in node.value if key.value == name)
    return int(node.end_mark.line)
