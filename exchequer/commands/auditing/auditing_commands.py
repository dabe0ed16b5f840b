"""The commands of `exchequer ledger` that read one, and `exchequer verify-model`: their options and their help.

Like `exchequer.cli`, this imports what a command does when it runs, and not before.
"""

from pathlib import Path

import click

from exchequer.commands.auditing.witness_commands import witness_options
from exchequer.commands.ledgers.ledger_commands import ledger as ledger
from exchequer.commands.ledgers.ledger_options import (
    ACCOUNT,
    AS_JSON,
    ENVIRONMENT,
    FILE,
    FORCE,
    LEDGER,
    OUT,
    SECOND_OPINION,
)
from exchequer.console.times import SINCE, UNTIL


@ledger.command()
@LEDGER
@click.option("--account", default="", help=f"Show this sub-budget only. {ACCOUNT}")
@click.option(
    "--entries", type=click.IntRange(min=0), default=10, show_default=True, help="How many of the newest entries."
)
@click.option("--whole", is_flag=True, help="Read all entries of a long ledger, too, for what only they can tell.")
@SINCE
@UNTIL
@click.option("--pace", metavar="SPAN", help="How much of the past the forecast depends on, as 30d. Default: 90d.")
@AS_JSON
def show(
    ledger: str,
    account: str,
    entries: int,
    whole: bool,
    since: str | None,
    until: str | None,
    pace: str | None,
    as_json: bool,
) -> None:
    """Print what was spent, what each account has left, and the newest entries. Writes nothing.

    A ledger of more than 50,000 entries is read from its newest checkpoint on, which is believed; `exchequer ledger
    verify` is what replays everything. Then who was charged for what is not known, and --whole reads it.

    Where the last 90 days have a pace, it also says how long what remains lasts at that; see `exchequer ledger
    forecast`. With --from or --to it shows what was spent in that time, and before and after it, and the newest
    entries of that time; a charge counts at its own time, less what was given back of it later. That reads the whole
    ledger.

    \b
    Examples:
      exchequer ledger show study.db
      exchequer ledger show study.db --account team-a --entries 50
      exchequer ledger show study.db --from 2026-03 --to 2026-04
      exchequer ledger show study.db --from 30d
    """
    if since is not None or until is not None:
        from exchequer.commands.auditing import window_ledger

        window_ledger.show_window(ledger, account, entries, since, until, as_json=as_json)
        return
    from exchequer.commands.auditing import show_ledger as work

    work.show_ledger(ledger, account, entries, pace, whole=whole, as_json=as_json)


@ledger.command()
@LEDGER
@click.option("--expect-head", metavar="DIGEST", help="A head that you kept: this ledger must have had it once.")
@click.option("--since", metavar="DIGEST", help="A head that you kept when this ledger was sound: read what is new.")
@SECOND_OPINION
@click.option(
    "--policy", type=FILE, help="Also hold each entry against this policy in TOML; end with 1 if one broke it."
)
@witness_options
@click.option("--strict", is_flag=True, help="End with 1 for caveats and notes as well, not for errors alone.")
@AS_JSON
def verify(
    ledger: str,
    expect_head: str | None,
    since: str | None,
    second_opinion: bool,
    policy: Path | None,
    anchors: tuple[Path, ...],
    witness_key: tuple[Path, ...],
    authority_root: tuple[Path, ...],
    clock_tolerance: float,
    require_signed: bool,
    first_key: Path | None,
    strict: bool,
    as_json: bool,
) -> None:
    """Check the ledger: every digest, every sum, every ceiling, every price.

    Reads each entry once, writes nothing, and adds up in exact arithmetic. Ends with 0 if the ledger is sound, with 1
    if not, and with 3 if all sums are right and yet there is a caveat: simulated noise, a budget that promises nothing,
    or charges without a release. Notes are about what else is worth knowing, and change no exit code.

    --since reads what is new, and starts at the checkpoint before the head that you kept, which vouches for it: in time
    of the new part, where that head is of a ledger that was sound. What stands before is not read again.

    --anchors compares the ledger with evidence on its heads that was kept outside of it, see `exchequer ledger anchor`:
    each must be genuine and in the ledger, and no entry may have a time that a witness refutes. Signatures of writers
    are checked wherever there are any.

    \b
    Examples:
      exchequer ledger verify study.db --second-opinion
      exchequer ledger verify ledger.jsonl --expect-head 4be02dd5...
      exchequer ledger verify study.db --since 4be02dd5...
      exchequer ledger verify study.db --policy policy.toml
      exchequer ledger verify study.db --anchors auditor.jsonl --witness-key witness.key.pub --require-signed
    """
    from exchequer.commands.auditing import audit_ledger as work
    from exchequer.commands.auditing import ledger_parts
    from exchequer.commands.auditing.outside_evidence import Outside

    outside = Outside(anchors, witness_key, authority_root, clock_tolerance, require_signed, first_key, as_json)
    if ledger_parts.names_part(ledger):
        if second_opinion or since is not None or policy is not None or outside:
            raise ValueError(
                "this is a part of a ledger: leave out --second-opinion, --since, --policy, --anchors and what is "
                "asked of signatures"
            )
        code = ledger_parts.verify_file(ledger, expect_head, strict=strict, as_json=as_json)
    elif since is None:
        code = work.verify_ledger(
            ledger, expect_head, second=second_opinion, policy=policy, strict=strict, as_json=as_json, outside=outside
        )
    elif second_opinion or expect_head is not None or policy is not None or outside:
        raise ValueError(
            "--since: it reads the new part alone: leave out --second-opinion, --expect-head, --policy, --anchors and "
            "what is asked of signatures"
        )
    else:
        code = work.verify_new_part(ledger, since, strict=strict, as_json=as_json)
    click.get_current_context().exit(code)


@ledger.command()
@LEDGER
@click.option("--out", type=OUT, required=True, help="Where the report goes: .html, or .pdf.")
@click.option("--title", help="What it is called. Default: after the ledger.")
@click.option("--expect-head", metavar="DIGEST", help="A head that you kept: this ledger must have had it once.")
@SINCE
@UNTIL
@SECOND_OPINION
@witness_options
@click.option(
    "--browser",
    metavar="PROGRAM",
    help="For .pdf: the Chromium, Chrome or Edge that prints it. Default: what EXCHEQUER_BROWSER names, or one that is "
    "installed.",
)
@FORCE
def report(
    ledger: str,
    out: Path,
    title: str | None,
    expect_head: str | None,
    since: str | None,
    until: str | None,
    second_opinion: bool,
    anchors: tuple[Path, ...],
    witness_key: tuple[Path, ...],
    authority_root: tuple[Path, ...],
    clock_tolerance: float,
    require_signed: bool,
    first_key: Path | None,
    browser: str | None,
    force: bool,
) -> None:
    """Write a report for people: one HTML file that needs no network, or the same printed as PDF.

    Its first page is one number, one sentence, one picture, and lights that are green only for what was checked:
    --second-opinion, --expect-head and --anchors check more. After it comes what is promised, how the budget was
    spent, by whom and on which data, what that depends on, and what `exchequer ledger verify` found. Ends with 1 if the
    ledger is not sound, and with 3 if it adds up with caveats, as `verify` does; the report is written all the same.

    With --from or --to a section says what was spent in that time; all other numbers stay those of the whole ledger.

    \b
    Examples:
      exchequer ledger report study.db --out report.html --second-opinion
      exchequer ledger report study.db --out report.html --expect-head 4be02dd5...
      exchequer ledger report study.db --out report.pdf
      exchequer ledger report study.db --out march.html --from 2026-03 --to 2026-04
    """
    from exchequer.commands.auditing.outside_evidence import Outside
    from exchequer.commands.auditing.report_file import write_report

    code = write_report(
        ledger,
        out,
        title,
        second=second_opinion,
        force=force,
        browser=browser,
        expect_head=expect_head,
        window=(since, until),
        outside=Outside(anchors, witness_key, authority_root, clock_tolerance, require_signed, first_key),
    )
    click.get_current_context().exit(code)


@ledger.command()
@LEDGER
@click.option("--out", required=True, metavar="FILE", help="Where the entries go, as JSON Lines; - prints them.")
@SINCE
@UNTIL
@FORCE
def export(ledger: str, out: str, since: str | None, until: str | None, force: bool) -> None:
    """Write all entries to a file that can be verified anywhere, with SHA-256 and a JSON parser alone.

    They are written as they are, sound or not. No ledger can be opened on an export.

    With --from it writes a part: the entries of that time, the digest before them, and what the entries before them add
    up to, which must hold. `exchequer ledger verify` checks a part from there on, and never calls it plainly sound, as
    what stands before it is the word of whoever exported it. With --to alone it is a whole export, of the ledger as it
    was then.

    \b
    Examples:
      exchequer ledger export study.db --out ledger.jsonl
      exchequer ledger verify ledger.jsonl
      exchequer ledger export study.db --from 2026-03 --to 2026-04 --out march.jsonl
    """
    if since is not None or until is not None:
        from exchequer.commands.auditing import ledger_parts

        ledger_parts.write_window(ledger, out, since, until, force=force)
        return
    from exchequer.commands.auditing import audit_ledger as work

    work.write_entries(ledger, out, force=force)


@click.command("verify-model")
@click.argument("model", type=FILE)
@click.option(
    "--ledger",
    required=True,
    envvar=ENVIRONMENT,
    show_envvar=True,
    help="The ledger that it was charged to: a URL, a SQLite file, or an export.",
)
@click.option("--public-key", type=FILE, help="The key, in PEM, that all of its receipts must be signed with.")
@AS_JSON
def verify_model(model: Path, ledger: str, public_key: Path | None, as_json: bool) -> None:
    """Say whether what a MODEL's file says about its cost is what the ledger says.

    A model that was trained with `--ledger` names the entries that it was charged with, and carries the statement of
    the ledger at that time; both are compared with the ledger, and the ledger is verified. Ends with 0 if all agrees,
    with 1 if not, with 2 where nothing can be compared because a file cannot be read, and with 3 if all agrees and the
    statement or the ledger has a caveat: simulated noise, nothing promised, or charges without a release.

    \b
    Example:
      exchequer verify-model model.json --ledger study.db --public-key study.key.pub
    """
    from exchequer.commands.auditing import audit_ledger as work

    click.get_current_context().exit(work.verify_model(model, ledger, public_key, as_json=as_json))
