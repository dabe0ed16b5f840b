"""`exchequer ledger report`: the report as a file, with what it says of a window of time and of witnesses."""

import datetime
from pathlib import Path

from accountant.audit.outlook import Window, WindowSpending
from accountant.audit.report import Evidence, Witness, report_of, window_section, window_text
from accountant.witnesses import Examination
from exchequer.commands.auditing.audit_ledger import NOTHING_OUTSIDE, audited, digest, print_verdict
from exchequer.commands.auditing.installed_claims import known_claims
from exchequer.commands.auditing.outside_evidence import Outside
from exchequer.commands.ledgers.open_ledger import reading
from exchequer.console import output
from exchequer.console.input_errors import refuse_overwriting
from exchequer.console.pdf_printing import report_writer
from exchequer.console.times import window as window_of


def write_report(
    location: str,
    out: Path,
    title: str | None,
    *,
    second: bool,
    force: bool,
    browser: str | None = None,
    expect_head: str | None = None,
    window: tuple[str | None, str | None] = (None, None),
    outside: Outside = NOTHING_OUTSIDE,
) -> int:
    """Write the report, as HTML or as PDF by the name of `out`; the exit code is that of `verify_ledger`.

    window: what --from and --to say.
    """
    expected = None if expect_head is None else digest("--expect-head", expect_head)
    spent = WindowSpending(Window(*window_of(*window))) if any(window) else None
    refuse_overwriting(out, force)
    write = report_writer(out, browser)
    claims = known_claims()
    evidence = Evidence()
    accumulators = (evidence,) if spent is None else (evidence, spent)
    with reading(location) as entries:
        found = audited(entries, claims, expected, second, *accumulators, outside=outside)
        if found.result.verdict == "cannot be checked":
            raise ValueError(f"no report can be made: {found.result.unchecked}")
        shows = found.result.sound  # of sums that do not hold nothing is said
        text = report_of(
            evidence,
            verification=found.verification,
            claims=claims,
            second_opinion=found.second,
            title=title or f"Privacy report on {entries.name}",
            made=datetime.datetime.now(datetime.UTC),
            witness=None if found.evidence is None else _witness(found.evidence),
            window=window_text(spent) if spent is not None and shows else "",
            further=(window_section(spent),) if spent is not None and shows else (),
        )
    write(text)
    print_verdict(found, found.title(entries.name))
    output.paragraph(f"The report is in {out}.")
    return found.code(strict=False)


def _witness(found: Examination) -> Witness | None:
    """What evidence says of the head, for its light: it agrees where some is proved and none speaks against it."""
    if found.errors:
        return Witness(agrees=False, text=found.errors[0])
    if not found.proved:
        return None
    newest = max(each.head.number for each in found.proved)
    holds = "1 piece of evidence holds" if len(found.proved) == 1 else f"{len(found.proved)} pieces of evidence hold"
    return Witness(agrees=True, text=f"From outside {holds}, the newest on entry {newest}.")
