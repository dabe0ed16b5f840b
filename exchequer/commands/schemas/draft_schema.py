"""`exchequer schema draft`: a schema file from what is public, with a TODO wherever somebody must think."""

import shlex
from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING

import attrs
import click

from exchequer.commands.schemas.column_facts import ColumnFacts, Price, by_name
from exchequer.commands.schemas.data_dictionary import read_dictionary
from exchequer.commands.schemas.schema_text import Draft
from exchequer.commands.schemas.seen_values import declared_types, reads_as_number, seen
from exchequer.console import output
from exchequer.console.input_errors import about, refuse_overwriting, refuse_replacing
from exchequer.console.table_databases import Source, TableAddress
from exchequer.console.table_files import (
    TableFileOptions,
    is_parquet,
    open_table,
    refuse_file_options,
    table_blocks,
)
from learners.tables import CsvFile, FileFormat, open_questions

if TYPE_CHECKING:
    from exchequer.commands.ledgers.paying_ledger import PayingLedger


@attrs.frozen
class DraftRequest:
    """What `draft` was asked for.

    label: "" for none.  numbers: whether it is a number.  names: of the columns of a file without a header line, () to
      number them.  header: whether there is one.
    values_public: whether the file's own values may be looked at.  sample, dictionary: public files that say something.
    price: what is paid for bounds and categories that nothing public says; None for nothing.  payer: the durable ledger
      that pays; None opens one in memory.
    """

    label: str = ""
    numbers: bool = False
    header: bool = True
    names: tuple[str, ...] = ()
    values_public: bool = False
    sample: Path | None = None
    dictionary: Path | None = None
    price: Price | None = None
    payer: "PayingLedger | None" = None


def draft(data: Source, out: Path | None, order: DraftRequest, options: TableFileOptions, *, force: bool) -> None:
    """Write the schema, say what it took from the data, and what to do next."""
    if out is not None:
        refuse_overwriting(out, force)
        refuse_replacing(out, *([data] if isinstance(data, Path) else []))
    refuse_file_options(data, options, order.header)
    with about(data):
        found = drafted(data, order, options)
    if not found.columns:
        raise ValueError(f"{data}: the file has no columns")
    if len(found.columns) == 1:
        output.note("one column only: where fields are separated by something else, say so (--separator).")
    text = found.text()
    if out is None:
        click.echo(text, nl=False)
    else:
        _write(out, text, found.paid)
    for line in found.taken:
        output.note(f"unpaid release from the data: {line}")
    if found.paid:
        output.note(f"paid release from the data: {found.paid}")
    if found.commas:
        output.note(f"numbers with a decimal comma in {', '.join(found.commas)}: draft again with --decimal ,")
    if not found.label:
        output.note("no label: --label NAME says which column is to be predicted; `exchequer train` needs one.")
    _say_what_is_next(data, out, text)


def _write(out: Path, text: str, paid: str) -> None:
    """Write the file. Raises OSError; what was paid for is not lost with it, but on standard output."""
    try:
        out.write_text(text, encoding="utf-8")
    except OSError as error:
        if not paid:
            raise
        click.echo(text, nl=False)
        raise OSError(
            f"--out: the schema could not be written, and is on standard output instead: {error}; what it cost is "
            "charged all the same"
        ) from error


def _say_what_is_next(data: Source, out: Path | None, text: str) -> None:
    where, todos = out or "the schema", len(open_questions(text))
    if todos:
        said = "one TODO is" if todos == 1 else f"{todos} TODOs are"
        output.note(f"{said} open in {where}: answer from public knowledge, never from the data.")
    if out is not None:
        output.note(f"Then, for the curator: exchequer schema check {shlex.quote(str(data))} --schema {out}")


def drafted(data: Source, order: DraftRequest, options: TableFileOptions) -> Draft:
    """The schema of a file. Raises ValueError, OSError."""
    public = _public_facts(order, options)
    format, names = _format(data, order, options, [] if order.dictionary is None else list(public))
    own, taken = _own_facts(data, format, order, public, names)
    paid = ""
    columns = [
        each.over(public.get(each.name)) if order.values_public else _over(public.get(each.name), each) for each in own
    ]
    label = order.label or next((each.name for each in columns if each.label), "")
    if label and label not in by_name(columns):
        there = [each.name for each in columns]
        near = get_close_matches(label, there, 1)
        meant = f"did you mean {near[0]!r}? The" if near else "the"
        raise ValueError(f"--label: no column {label!r}; {meant} columns are {there}")
    chosen = by_name(columns).get(label)
    numbers = order.numbers or (chosen is not None and chosen.type == "number" and not chosen.categories)
    if chosen is not None and not numbers:
        columns = [_classes(each) if each.name == label else each for each in columns]
    commas = [] if _typed(data) else [each.name for each in own if each.commas]
    if order.price is not None:
        if commas:  # as text they would get categories, or nothing, for the same price
            raise ValueError(
                f"--paid: numbers with a decimal comma in {', '.join(commas)}: draft with --decimal , so that they get "
                "bounds; nothing was charged"
            )
        columns, paid = _paid(data, format, columns, label, numbers, order)
    return Draft(data.name, columns, label, numbers, format, taken, paid, commas)


def _paid(
    data: Source, format: FileFormat, columns: list[ColumnFacts], label: str, numbers: bool, order: DraftRequest
) -> tuple[list[ColumnFacts], str]:
    """The columns with the domains that are released, and what that cost. Raises what a ledger raises."""
    # Here at last, as most drafts pay for nothing.
    from accountant import AddRemoveOne, ApproxDP, BasicComposition, Ledger, PureDP
    from exchequer.commands.ledgers.paying_ledger import paying
    from exchequer.commands.schemas.paid_values import paid_facts, wanted

    lacking = wanted(columns, label, numbers)
    if not lacking or order.price is None:
        return columns, ""
    table = open_table(data, format, [each.name for each in lacking])
    price = order.price
    budget = ApproxDP(price.epsilon, price.delta) if price.delta else PureDP(price.epsilon)
    with paying(order.payer) as durable:
        ledger = durable or Ledger(budget, composition=BasicComposition(), adjacency=AddRemoveOne())
        found = by_name(paid_facts(ledger, table, lacking, price))
        statement = ledger.statement()
    cost = f"epsilon {price.epsilon:g}" + (f", delta {price.delta:g}" if price.delta else "")
    said = f"bounds and categories of {', '.join(found)}, for {cost} in all. {statement.guarantee}"
    return [attrs.evolve(found[each.name], type=each.type) if each.name in found else each for each in columns], said


def _over(public: ColumnFacts | None, own: ColumnFacts) -> ColumnFacts:
    """What is public first, then what the data say."""
    return own if public is None else attrs.evolve(public, name=own.name).over(own)


def _classes(label: ColumnFacts) -> ColumnFacts:
    """Whole numbers between two bounds are classes, where they are few."""
    few = isinstance(label.lower, int) and isinstance(label.upper, int) and label.upper - label.lower < 20
    if label.categories or label.type != "integer" or not few:
        return label
    return attrs.evolve(label, categories=tuple(map(str, range(int(label.lower or 0), int(label.upper or 0) + 1))))


def _public_facts(order: DraftRequest, options: TableFileOptions) -> dict[str, ColumnFacts]:
    """By column, of a dictionary and then of a sample."""
    found = dict[str, ColumnFacts]()
    if order.dictionary is not None:
        with about(order.dictionary):
            found = by_name(read_dictionary(order.dictionary))
    if order.sample is not None:
        source = f"the public sample {order.sample.name}"
        with about(order.sample):
            names = list(found) or list(order.names) if not order.header else None
            for column in seen(table_blocks(order.sample, options.format(None, names))):
                facts = column.facts(source=source, typed=source, domain=True)
                found[facts.name] = found[facts.name].over(facts) if facts.name in found else facts
    return found


def _format(
    data: Source, order: DraftRequest, options: TableFileOptions, known: Sequence[str]
) -> tuple[FileFormat, list[str]]:
    """How the file is read, and the names of its columns. known: what a dictionary calls them, in order."""
    if isinstance(data, TableAddress) or is_parquet(data):
        return FileFormat(), []
    format = options.format()
    if order.header:
        file = CsvFile(data, format)
        separator, header = file.separator(), file.names()
        _refuse_record(data, header)
        return attrs.evolve(format, separator=None if separator == "," else separator), header
    width = CsvFile(data, format).width()
    names = list(order.names) or (list(known) if len(known) == width else [f"column{k + 1}" for k in range(width)])
    if len(names) != width:
        raise ValueError(f"--names: {len(names)} names, and its first line has {width} fields")
    return attrs.evolve(format, columns=tuple(names)), names


def _typed(data: Source) -> bool:
    """Whether columns have types that are said somewhere."""
    return isinstance(data, TableAddress) or is_parquet(data)


def _refuse_record(data: Source, header: Sequence[str]) -> None:
    """Raise ValueError where the header line has a number; it is not quoted, as somebody may be in it."""
    if any(map(reads_as_number, header)):
        raise ValueError(
            f"{data}: the first line looks like a record: one of its fields is a number. Say --no-header, and "
            "--names A,B,… for the columns' names; if it does hold names, give that column one that is no number"
        )


def _own_facts(
    data: Source, format: FileFormat, order: DraftRequest, public: Mapping[str, ColumnFacts], names: Sequence[str]
) -> tuple[list[ColumnFacts], list[str]]:
    """What the file says of its columns, and what of that nobody paid for."""
    if order.values_public:
        source = "the data, whose values are public, as the user says"
        columns = seen(table_blocks(data, format))
        return [column.facts(source=source, typed=source, domain=True) for column in columns], []
    if _typed(data):
        where = "the database" if isinstance(data, TableAddress) else "the file's metadata"
        own = [ColumnFacts(name, kind, typed=where if kind else "") for name, kind in declared_types(data).items()]
        said = "the database declares them" if isinstance(data, TableAddress) else "the file's metadata declare them"
        what = "the names and the types" if any(each.typed for each in own) else "the names"
        return own, [f"{what} of {len(own)} columns, as {said}"]
    taken = (
        [f"the names of {len(names)} columns, from the header line"]
        if order.header
        else [f"the number of columns, {len(names)}"]
    )
    if all(public.get(name) is not None and public[name].type is not None for name in names):
        return [ColumnFacts(name) for name in names], taken
    source = "guessed from the data"
    own = [column.facts(source="", typed=source, domain=False) for column in seen(table_blocks(data, format), True)]
    unknown = [each.name for each in own if public.get(each.name) is None or public[each.name].type is None]
    said = ", ".join(f"{each.name} {_guessed(each)}" for each in own if each.name in unknown)
    taken += [f"the types of {len(unknown)} columns, as most of the first records have them: {said}"]
    forms = [f"{each.name} as {each.form or 'ISO 8601'}" for each in own if _lacks_form(public.get(each.name))]
    if forms:
        taken += [f"how dates are written, as most of the first records have them: {', '.join(forms)}"]
    return own, [*taken, *_has_commas(own)]


def _guessed(facts: ColumnFacts) -> str:
    """All that is guessed of a column, for the line that says so."""
    form = f" as {facts.form}" if facts.form else ""
    return f"{facts.type or 'unknown'}{form}"


def _has_commas(facts: Sequence[ColumnFacts]) -> list[str]:
    """The line that says of which columns that is guessed."""
    found = [each.name for each in facts if each.commas]
    return [f"that most of the first records have a decimal comma in {', '.join(found)}"] if found else []


def _lacks_form(public: ColumnFacts | None) -> bool:
    """Whether a column is publicly one of dates, and how they are written is still to be guessed."""
    return public is not None and public.type == "date" and public.form is None
