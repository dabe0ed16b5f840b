"""`exchequer ledger export --from/--to`, and `verify` of what it wrote: a part of a ledger as a file."""

from pathlib import Path

import attrs

from accountant.audit.outlook import Window
from accountant.audit.parts import is_part, open_part, verify_part, write_part
from exchequer.commands.auditing.audit_ledger import NO_REGISTRY, Audited, digest, target, tell
from exchequer.commands.auditing.installed_claims import known_claims
from exchequer.commands.ledgers.open_ledger import reading
from exchequer.console import output
from exchequer.console.input_errors import refuse_overwriting
from exchequer.console.times import window


def write_window(location: str, out: str, since: str | None, until: str | None, *, force: bool) -> None:
    """Write the entries of a window. out: a path, or "-" for standard output. Raises as `write_part` does."""
    asked = Window(*window(since, until))
    if out != "-":
        refuse_overwriting(Path(out), force)
    with reading(location) as entries, target(out) as file:
        header = write_part(entries, asked, file)
    if header is None:
        output.note(f"from the first entry of {entries.name} on: a whole export of the ledger as it was then")
    else:
        last = header.first + header.entries - 1
        output.note(f"entries {header.first} to {last} of {header.of} of {entries.name}, head {header.head}")


def names_part(location: str) -> bool:
    """Whether this is the path of a part of a ledger, and not a ledger."""
    return "://" not in location and (path := Path(location)).is_file() and is_part(path)


def verify_file(location: str, expect_head: str | None, *, strict: bool, as_json: bool) -> int:
    """Print what is wrong with a part, and what is not in it; the exit code, at best that of a ledger with caveats."""
    expected = None if expect_head is None else digest("--expect-head", expect_head)
    claims = known_claims()
    with open_part(location) as (header, entries), output.entries_bar("verifying", header.entries) as progress:
        found = verify_part(header, entries, expect_head=expected, claims=claims, progress=progress)
    notes = (*found.notes, *([NO_REGISTRY] if claims is None else []))
    part = {"first": header.first, "entries": header.entries, "of": header.of, "before": header.before}
    return tell(Audited(attrs.evolve(found, notes=notes)), location, strict=strict, as_json=as_json, part=part)
