"""`exchequer schema check`: all that is wrong between a file and a schema, at once, for the curator."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

import attrs

from exchequer.commands.schemas.column_problems import Finding, Findings, column_findings, label_findings
from exchequer.console import output
from exchequer.console.input_errors import about
from exchequer.console.table_databases import Source
from exchequer.console.table_files import TableFileOptions, refuse_file_options, table_blocks
from learners import Schema

FOR_THE_CURATOR: Final = (
    "For the curator only. All below was computed from the records, and nobody paid for it: do not pass it on, and "
    "change bounds and categories by public knowledge, not to fit what is seen here."
)


MOSTLY: Final = 0.9
"""Of all records: where so many say nothing that a column can read, that is a mistake."""

NUMBERS: Final = ("records", "first")


@attrs.frozen
class Checked:
    """records: how many there are.  missing, left: columns that the file lacks, and that no schema names.

    findings: all else.
    """

    records: int
    missing: tuple[str, ...]
    left: tuple[str, ...]
    findings: tuple[Finding, ...]

    @property
    def lost(self) -> tuple[str, ...]:
        """Columns of which next to nothing is learnt: hardly a value is what the schema says."""
        odd = dict.fromkeys((finding.column for finding in self.findings if not finding.refused), 0)
        for finding in self.findings:
            if not finding.refused and finding.unread:
                odd[finding.column] += finding.records
        return tuple(name for name, records in odd.items() if records > MOSTLY * self.records)

    @property
    def refused(self) -> bool:
        """Whether `train` would refuse the file."""
        return bool(self.missing) or not self.records or any(finding.refused for finding in self.findings)


def check(data: Source, schema_path: Path, options: TableFileOptions, *, header: bool) -> int:
    """Print all problems; 1 where the file would be refused, or a column has hardly a value that is read, else 0."""
    refuse_file_options(data, options, header)
    with about(schema_path):
        schema = Schema.from_toml(schema_path)
    names = None if header else [*schema.names, *schema.label_names]
    with about(data):
        found = checked(data, schema, options, names)
    output.title(f"{data} against {schema_path}: {found.records} records")
    output.paragraph(FOR_THE_CURATOR)
    _print(found)
    return int(found.refused or bool(found.lost))


def checked(data: Source, schema: Schema, options: TableFileOptions, names: Sequence[str] | None = None) -> Checked:
    """What is wrong. names: of the columns of a file without a header line."""
    findings, records = Findings(), 0
    wanted, columns = [*schema.names, *schema.label_names], list[str]()
    for block in table_blocks(data, options.format(schema, names)):
        columns = list(block)
        sizes = {len(block[name]) for name in columns}
        for column in schema.columns:
            if column.name in columns:
                findings.add(column_findings(column, block[column.name]), records)
        for label in (schema.label, schema.number_label):
            if label is not None and label.name in columns:
                findings.add(label_findings(label, block[label.name]), records)
        records += max(sizes, default=0)
    left = [name for name in columns if name not in wanted and name not in schema.ignored]
    return Checked(records, tuple(name for name in wanted if name not in columns), tuple(left), findings.all())


def _print(found: Checked) -> None:
    if found.missing:
        output.paragraph(f"\nColumns that the file lacks: {', '.join(found.missing)}")
    refused = [finding for finding in found.findings if finding.refused]
    if refused:
        output.heading("What would be refused")
        output.table(["column", "what", "records", "first", "which", "remedy"], list(_rows(refused)), numbers=NUMBERS)
    taken = [finding for finding in found.findings if not finding.refused]
    if taken:
        output.heading("What is taken as the schema says")
        output.table(["column", "what", "records", "first", "which", "counts as"], list(_rows(taken)), numbers=NUMBERS)
    if found.left:
        meant = 'In the schema, kind = "ignored" says that this is meant.'
        output.paragraph(f"\nColumns that nothing is learnt from: {', '.join(found.left)}. {meant}")
    for name in found.lost:
        output.paragraph(
            f"\nHardly a value of {name} is what the schema says, and the model would learn nothing from it: look at "
            "its kind, its categories or the form of its dates; numbers may have a decimal comma (--decimal ,)."
        )
    verdict = "The file would be refused." if found.refused else "The file fits the schema."
    output.paragraph(
        f"\n{'The file would be taken, and wrongly read.' if found.lost and not found.refused else verdict}"
    )


def _rows(findings: Sequence[Finding]) -> Iterator[tuple[str, str, str, str, str, str]]:
    """With the number of the first such record, from 0."""
    for each in findings:
        yield each.column, each.what, str(each.records), str(each.first), each.which, each.remedy
