"""A portable model as one SELECT: each record's prediction, scores, shares of the classes, and why it is refused.

Stages, each a SELECT from the one before: the columns as they are read, their places, the scores, what they say.
"""

import itertools
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

import attrs

from accountant.arrays import FloatArray
from learners.exports.portable_model import (
    Amount,
    Branch,
    ClippedShare,
    Leaf,
    Linear,
    LineShare,
    LogisticShare,
    LookUp,
    ManyClasses,
    NotPortable,
    PortableModel,
    Share,
    Steps,
    Term,
    TwoClasses,
)
from learners.exports.sql_columns import ReadColumn
from learners.exports.sql_dialects import DIALECTS, Dialect, DialectName
from learners.exports.sql_files import csv_table

FILE: Final = re.compile(r"/|\.(csv|tsv|txt|parquet|json|ndjson)(\.gz|\.zst)?$", re.IGNORECASE)
"""What a table's name has where it is that of a file."""

CSV_FILE: Final = re.compile(r"\.(csv|tsv|txt)(\.gz|\.zst)?$", re.IGNORECASE)
"""What that of a CSV file ends with."""

TERMS_IN_A_STAGE: Final = 100
"""Terms that are added in one expression; engines limit how deep one is."""

MOST_POWER: Final = 700.0
"""Exponentials are taken within e^±700: PostgreSQL refuses what is beyond a double, and no share tells."""


def as_sql(model: PortableModel, dialect: DialectName, table: str, keep: Sequence[str] = ()) -> str:
    """A SELECT statement over a table with the model's columns, one row for each record, in any order.

    table: its name, with dots between the parts; with DuckDB it may be a file, such as people.parquet.
      A CSV file is read as text, as the model's schema says it is written, and its columns may be of any kind.
    keep: columns that come first, such as a key; () for those of the model.
    Columns after those: `prediction`, `score` (or one for each class), `share` of each class, and `refused`: NULL, or
    which column of the record has a value that `predict` refuses, or that the engine does not read as Python does; the
    others are then NULL. Columns may be of the type that the kind suggests, or text; in SQLite, which reads numbers in
    text to some 15 digits, numbers must be numbers. For forests, PostgreSQL takes ten
    times as long to compile the statement as to run it: `SET jit = off`.
    Raises NotPortable for names that the dialect has not.
    """
    return _Writer(model, DIALECTS[dialect], table, tuple(keep) or tuple(model.names)).statement()


@attrs.frozen(slots=False)
class _Writer:
    model: PortableModel
    dialect: Dialect
    table: str
    keep: tuple[str, ...]
    types: Mapping[str, str] = attrs.field(factory=dict)

    def statement(self) -> str:
        self._refuse_equal_names()
        stages = list[tuple[str, str]]()
        for number, columns in enumerate(self._read()):
            before = self._own(stages[-1][0]) if stages else f"{self._table()} AS t"
            stages.append((f"read_{number + 1}" if number else "read", _select(columns, before)))
        stages.append(("placed", self._placed(self._own(stages[-1][0]))))
        for number, columns in enumerate(self._summed(), 1):
            stages.append((f"summed_{number}", _select(columns, self._own(stages[-1][0]))))
        stages.append(("scored", self._scored(self._own(stages[-1][0]))))
        said = "\n".join("-- " + " ".join(line.split()) for line in self.model.about)
        parts = ",\n".join(f"{self._own(name)} AS (\n  {body}{self.dialect.fence}\n)" for name, body in stages)
        return f"{said}\nWITH {parts}\n{self._told()}\n"

    def _table(self) -> str:
        if not (self.dialect.reads_files and FILE.search(self.table)):
            return ".".join(map(self.dialect.identifier, self.table.split(".")))
        if not CSV_FILE.search(self.table):
            return self.dialect.identifier(self.table)
        return csv_table(self.dialect, self.table, self.model.file)

    # --- names ---------------------------------------------------------------------------------------------------

    def _own(self, name: object) -> str:
        """A name of ours, which no column of the user's has, nor the table."""
        return f"{self._prefix}{name}"

    @property
    def _prefix(self) -> str:
        named = (*self.model.names, *self.keep, *self.table.split("."))
        taken, prefix = [each.lower() for each in named], "exchequer_"
        while any(each.startswith(prefix) for each in taken):
            prefix += "_"
        return prefix

    def _kept(self) -> list[str]:
        return [f"{self._own('kept_')}{number}" for number in range(len(self.keep))]

    def _places(self) -> list[str]:
        return [self._place(number) for number in range(len(self.model.inputs))]

    def _place(self, number: int) -> str:
        return self._own(f"place_{number}")

    def _scores(self) -> list[str]:
        return [self._own(f"score_{number}") for number in range(self.model.outputs)]

    def _refuse_equal_names(self) -> None:
        if not self.dialect.folds:
            return
        for one, other in itertools.combinations(self.model.names, 2):
            if one.lower() == other.lower():
                raise NotPortable(
                    f"the columns {one!r} and {other!r} are the same name in {self.dialect.name}; rename one"
                )

    # --- columns and their places --------------------------------------------------------------------------------

    def _inputs(self) -> list[ReadColumn]:
        return [ReadColumn(*each, self.dialect, self._own) for each in enumerate(self.model.inputs)]

    def _read(self) -> Iterator[list[str]]:
        """What stages that read the columns select, the first of them from the table as t; dates need several."""
        columns = [f"t.{self.dialect.identifier(name)}" for name in self.keep]
        stages = [[f"{column} AS {name}" for column, name in zip(columns, self._kept(), strict=True)]]
        for each in self._inputs():
            name = each.input.name
            steps = list(each.read(f"t.{self.dialect.identifier(name)}", self.types.get(name)))
            for number, step in enumerate(steps):
                if number == len(stages):
                    stages.append([])
                stages[number].append(f"{step} AS {each.value}")
        done = self._kept()
        for number, stage in enumerate(stages):
            made = {each.rpartition(" AS ")[2] for each in stage}
            yield [*(name for name in done if name not in made), *stage]
            done = [*done, *(each.value for each in self._inputs() if not number)]

    def _placed(self, before: str) -> str:
        columns, wrong = list(self._kept()), []
        for each in self._inputs():
            place, refused = each.placed()
            columns.append(f"{place} AS {each.place}")
            if refused:
                wrong.append(f"WHEN {refused} THEN {self.dialect.text(f'column {each.input.name!r}')}")
        refused = f"CASE {' '.join(wrong)} END" if wrong else "CAST(NULL AS VARCHAR(9))"
        return _select([*columns, f"{refused} AS {self._own('refused')}"], before)

    # --- scores --------------------------------------------------------------------------------------------------

    def _summed(self) -> Iterator[list[str]]:
        """What stages select that each add some terms. Each takes up where the one before left off."""
        terms = self.model.terms
        for start in range(0, max(1, len(terms)), TERMS_IN_A_STAGE):
            part = terms[start : start + TERMS_IN_A_STAGE]
            sums = [self._sum(output, part, first=start == 0) for output in range(self.model.outputs)]
            carried = [*self._kept(), *self._places(), self._own("refused")]
            yield [*carried, *sums]

    def _sum(self, output: int, terms: Sequence[Term], *, first: bool) -> str:
        name = self._scores()[output]
        before = self.dialect.number(self.model.start[output]) if first else name
        added = "".join(f"\n      + {self._term(term, output)}" for term in terms)
        return f"{before}{added} AS {name}"

    def _term(self, term: Term, output: int) -> str:
        match term:
            case Leaf(values):
                return self.dialect.number(values[output])
            case Branch():
                yes, no = self._term(term.yes, output), self._term(term.no, output)
                return f"CASE WHEN {self._among(term)} THEN {yes} ELSE {no} END"
            case Linear(weights):
                return self._linear(weights)
            case LookUp():
                return self._look_up(term.steps, term.values[..., output])

    def _look_up(self, steps: tuple[Steps, ...], values: FloatArray) -> str:
        if not steps:
            return self.dialect.number(float(values))
        first, rest = steps[0], steps[1:]
        cells = [self._look_up(rest, part) for part in values]
        place = self._place(first.input)
        tree = self._search(place, first.cuts, cells[: len(first.cuts) + 1])
        return f"CASE WHEN {place} IS NULL THEN {cells[-1]} ELSE {tree} END" if first.own else tree

    def _search(self, place: str, cuts: Sequence[float], cells: Sequence[str]) -> str:
        """Which of the cells: a binary search."""
        if len(set(cells)) == 1:
            return cells[0]
        middle = len(cuts) // 2
        below = self._search(place, cuts[:middle], cells[: middle + 1])
        above = self._search(place, cuts[middle + 1 :], cells[middle + 1 :])
        return f"CASE WHEN {place} < {self.dialect.number(cuts[middle])} THEN {below} ELSE {above} END"

    def _among(self, branch: Branch) -> str:
        """Whether a record's cell is a member: one range of places for each run of members."""
        place, cuts, literal = self._place(branch.steps.input), branch.steps.cuts, self.dialect.number
        found, cell = [], 0
        for member, run in itertools.groupby(branch.members[: len(cuts) + 1]):
            end = cell + len(list(run))
            low = [f"{place} >= {literal(cuts[cell - 1])}"] if cell else []
            high = [f"{place} < {literal(cuts[end - 1])}"] if end <= len(cuts) else []
            found += [" AND ".join([*low, *high]) or f"{place} IS NOT NULL"] if member else []
            cell = end
        if branch.steps.own and branch.members[-1]:
            found.append(f"{place} IS NULL")
        return " OR ".join(f"({each})" for each in found) or "1 = 0"

    def _linear(self, weights: Sequence[float]) -> str:
        """By halves, as `learners.encoding.folded` adds."""
        pairs = zip(self._places(), weights, strict=True)
        sums = [f"({place} * {self.dialect.number(weight)})" for place, weight in pairs]
        while len(sums) > 1:
            half = len(sums) // 2
            sums[:half] = [f"({a} + {b})" for a, b in zip(sums[:half], sums[-half:], strict=True)]
            del sums[-half:]
        return sums[0]

    def _scored(self, before: str) -> str:
        carried = [*self._kept(), self._own("refused")]
        whole = f" / {self.dialect.number(self.model.divisor)}" if self.model.divisor != 1.0 else ""
        there = f"{self._own('refused')} IS NULL"
        return _select([*carried, *(f"CASE WHEN {there} THEN {s}{whole} END AS {s}" for s in self._scores())], before)

    # --- what scores say -------------------------------------------------------------------------------------------

    def _told(self) -> str:
        answers = self._answers()
        pairs = zip([*self._kept(), *answers.values()], self._called(list(answers)), strict=True)
        return _select(
            [f"{value} AS {self.dialect.identifier(name)}" for value, name in pairs], self._own("scored"), ""
        )

    def _called(self, answers: Sequence[str]) -> list[str]:
        """What all columns are called that come out: those kept, and the answers, with a _ where a name is taken."""
        names, taken = list(self.keep), {given.lower() for given in self.keep}
        for name in answers:
            while name.lower() in taken:
                name += "_"
            taken.add(name.lower())
            names.append(name)
        return names

    def _answers(self) -> dict[str, str]:
        """SQL by what it is called."""
        link, scores = self.model.link, self._scores()
        found: dict[str, str] = {}
        match link:
            case TwoClasses():
                no, yes = map(self._class, link.classes)
                found["prediction"] = f"CASE WHEN {scores[0]} > 0 THEN {yes} WHEN {scores[0]} <= 0 THEN {no} END"
                found["score"] = scores[0]
                if link.share is not None:
                    share = self._share(link.share, scores[0])
                    found[f"share {link.classes[0]}"] = f"1 - ({share})"
                    found[f"share {link.classes[1]}"] = share
            case ManyClasses():
                found["prediction"] = self._best(link, scores)
                found |= {f"score {name}": score for name, score in zip(link.classes, scores, strict=True)}
                if link.softmax:
                    found |= self._softmax(link, scores)
            case Amount():
                found["prediction"] = self._amount(link, scores[0])
        # Engines leave NULL aside in the greatest of several, so that some shares would say something of no score.
        there = f"{self._own('refused')} IS NULL"
        told = {k: f"CASE WHEN {there} THEN {v} END" if k.startswith("share ") else v for k, v in found.items()}
        return {**told, "refused": self._own("refused")}

    def _class(self, name: object) -> str:
        if isinstance(name, bool):
            return str(int(name)) if self.dialect.name == "sqlite" else str(name).upper()
        if isinstance(name, int):
            return str(name)
        if isinstance(name, float):
            return self.dialect.number(name)
        if isinstance(name, str):
            return self.dialect.text(name)
        raise NotPortable(f"the class {name!r} is a {type(name).__name__}, which SQL has no literal for")

    def _best(self, link: ManyClasses, scores: Sequence[str]) -> str:
        cases = []
        for number, (name, score) in enumerate(zip(link.classes, scores, strict=True)):
            rest = [f"{score} >= {other}" for other in scores[number + 1 :]]
            cases.append(f"WHEN {' AND '.join(rest) or f'{score} IS NOT NULL'} THEN {self._class(name)}")
        return f"CASE {' '.join(cases)} END"

    def _softmax(self, link: ManyClasses, scores: Sequence[str]) -> dict[str, str]:
        top = f"{self.dialect.larger}({', '.join(scores)})"
        powers = [f"exp({self.dialect.larger}({score} - {top}, {-MOST_POWER}))" for score in scores]
        total = " + ".join(powers)
        return {f"share {name}": f"{power} / ({total})" for name, power in zip(link.classes, powers, strict=True)}

    def _amount(self, link: Amount, score: str) -> str:
        literal, larger, smaller = self.dialect.number, self.dialect.larger, self.dialect.smaller
        if link.log:
            score = f"exp({larger}({smaller}({score}, {literal(link.most)}), {literal(-MOST_POWER)}))"
        bounded = f"{larger}({smaller}({score}, {literal(link.upper)}), {literal(link.lower)})"
        return f"CASE WHEN {self._scores()[0]} IS NOT NULL THEN {bounded} END"

    def _share(self, share: Share, score: str) -> str:
        literal, larger, smaller = self.dialect.number, self.dialect.larger, self.dialect.smaller
        match share:
            case LogisticShare():
                return _logistic(self.dialect, score)
            case ClippedShare(clip, slope):
                size = f"abs({score})"
                told = f"{literal(clip)} / ({literal(clip)} + {_logistic(self.dialect, f'(-{size})')})"
                rate = _logistic(self.dialect, f"({literal(slope)} * {size})")
                least = f"0.5 + {literal(2.0**-12)} * {smaller}({size}, {literal(1.0)})"
                likelier = f"{larger}({told}, {rate}, {least})"
                return f"CASE WHEN {score} > 0 THEN {likelier} ELSE 1 - {likelier} END"
            case LineShare():
                line = self._lines(share, f"({score} + {literal(share.shift)})")
                above, below = f"{larger}({line}, {literal(share.least)})", f"{smaller}({line}, 0.5)"
                return f"CASE WHEN {score} > 0 THEN {above} ELSE {below} END"
        whole = f"{literal(0.5)} * ({literal(1.0)} + {score})"
        return f"{larger}({smaller}({whole}, {literal(1.0)}), {literal(0.0)})"

    def _lines(self, share: LineShare, at: str) -> str:
        """As numpy interpolates."""
        literal, cells = self.dialect.number, [self.dialect.number(share.shares[0])]
        for (a, p), (b, q) in itertools.pairwise(zip(share.at, share.shares, strict=True)):
            cells.append(f"{literal((q - p) / (b - a))} * ({at} - {literal(a)}) + {literal(p)}")
        return self._search(at, share.at, [*cells, literal(share.shares[-1])])


def _logistic(dialect: Dialect, score: str) -> str:
    one, most = dialect.number(1.0), dialect.number(MOST_POWER)
    return f"{one} / ({one} + exp({dialect.smaller}(-{score}, {most})))"


def _select(columns: Sequence[str], source: str, indent: str = "  ") -> str:
    between = f",\n{indent}    "
    return f"SELECT\n{indent}    {between.join(columns)}\n{indent}FROM {source}"
