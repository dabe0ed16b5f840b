"""Fitted models as a person reads them: points to add up, votes, or trees. From the model alone, so free of charge."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, Final, Literal, TypeAlias

import attrs
import numpy as np
from scipy.special import expit

from accountant.arrays import FloatArray
from learners.additive import AdditiveModel
from learners.base import PrivateEstimator
from learners.inspection.card_sections import CardSection as CardSection
from learners.inspection.card_sections import Scorecard as Scorecard
from learners.inspection.card_sections import signed
from learners.inspection.merged_cells import merged
from learners.inspection.number_cards import number_card
from learners.inspection.point_tables import DOUBLING, TOLERANCE, Linear, PointsTable, PointUnit, as_additive, tables
from learners.regression import RegressionModel
from learners.tables import Categorical, Numeric, Schema, boxed
from learners.trees import BoostedTreesModel, ForestModel
from learners.votes import CONSTANT, OneRule, VoteModel

Readable: TypeAlias = AdditiveModel | RegressionModel | Linear | VoteModel | ForestModel | BoostedTreesModel

TOTALS: Final = (-8, -6, -4, -3, -2, -1, 0, 1, 2, 3, 4, 6, 8)
"""Totals that a card tells the probability of, in doublings."""


# --- points: additive models ---------------------------------------------------------------------------------


@attrs.frozen
class PointsCard(Scorecard):
    """Points to add up by hand.

    classes: their names.  base: what everybody starts with; one number for two classes, else one per class.
    tables: of columns and pairs that have points, the most influential first.  unused: columns without.
    probabilities: totals with the probability of the second class; none for three classes or more.
    off: how many points a line is off at most where cells were put together, None where none were.
    """

    schema: Schema
    classes: tuple[str, ...]
    unit: PointUnit
    base: tuple[int, ...]
    tables: tuple[PointsTable, ...]
    unused: tuple[str, ...]
    probabilities: tuple[tuple[int, float], ...]
    off: float | None = None

    def total(self, record: Mapping[str, object]) -> tuple[int, ...]:
        """What a reader adds up for one record, given by column; one number for two classes, else one per class.

        Raises OutsideSchema for a value that the schema does not allow, KeyError for a missing column.
        """
        total = np.array(self.base)
        for table in self.tables:
            values = [self._read(column, record) for column in table.columns]
            line = next((line for line in table.lines if line.holds(values)), None)
            total += 0 if line is None else np.array(line.points)
        return tuple(total.tolist())

    def _read(self, number: int, record: Mapping[str, object]) -> object:
        column = self.schema.columns[number]
        value = boxed([record[column.name]], f"column {column.name!r}")
        code = int(column.codes(value)[0])
        if isinstance(column, Numeric):
            return float(column.inside(value)[0])
        return column.categories[code] if isinstance(column, Categorical) else str(code)

    def answer(self, record: Mapping[str, object]) -> str:
        """The class that the total speaks for."""
        total = self.total(record)
        return self.classes[int(total[0] > 0) if len(total) == 1 else int(np.argmax(total))]

    def sections(self) -> list[CardSection]:
        shown = [self._section(table) for table in self.tables]
        unused = [CardSection("No points", (", ".join(self.unused),))] if self.unused else []
        return [CardSection("How to read it", self._advice()), *shown, *unused, *self._meaning()]

    def _advice(self) -> tuple[str, ...]:
        off = f"Points are rounded: none is more than {self.unit.tolerance:g} off."
        if self.off is not None:
            off = (
                "Cells that noise does not tell apart, and of a long table those most alike, are on one line: none is "
                f"more than {self.off:.0f} points off what the model has. {self._noise()}"
            )
        start = "Start with the base. In every table find the line that the record is on, and add its points; a pair"
        start += " without such a line adds none. "
        if len(self.base) == 1:
            negative, positive = self.classes
            return (
                f"Base: {signed(self.base[0])}. {start}A total above 0 says {positive!r}, any other {negative!r}.",
                f"{self.unit.doubling:g} points more double the odds of {positive!r}, far from 0 at least. {off}",
            )
        base = ", ".join(f"{name!r} {signed(points)}" for name, points in zip(self.classes, self.base, strict=True))
        return (
            f"Base: {base}. {start}Every class has its own points, and the highest total wins; of equal ones the "
            "first named.",
            f"{self.unit.doubling:g} points between two classes double the odds of the one over the other. {off}",
        )

    def _noise(self) -> str:
        if any(line.unsure is not None for table in self.tables for line in table.lines):
            return "After ± is how far noise may have moved a line, 9 times in 10."
        return "This model was saved without what noise leaves unsure of it, so that no line has a ±."

    def _names(self, table: PointsTable) -> tuple[str, ...]:
        return tuple(self.schema.columns[column].name for column in table.columns)

    def _section(self, table: PointsTable) -> CardSection:
        names = self._names(table)
        heads = ("points",) if len(self.base) == 1 else tuple(f"for {name}" for name in self.classes)
        if self.off is not None and table.lines and table.lines[0].unsure is not None:
            heads = (*heads, "±")
        rows = [(*map(str, line.where), *map(signed, line.points), str(line.unsure)) for line in table.lines]
        shown = tuple(row[: len(names) + len(heads)] for row in rows)
        return CardSection(" × ".join(names), headers=(*names, *heads), rows=shown, numbers=heads)

    def _meaning(self) -> list[CardSection]:
        if not self.probabilities:
            return []
        headers = ("total", f"probability of {self.classes[1]}")
        rows = tuple((signed(total), f"{share:.1%}") for total, share in self.probabilities)
        return [CardSection("What a total means", headers=headers, rows=rows, numbers=headers)]

    def as_dict(self) -> dict[str, object]:
        columns = [
            {"columns": list(self._names(table)), "lines": [line.as_dict() for line in table.lines]}
            for table in self.tables
        ]
        totals = [{"total": total, "probability": share} for total, share in self.probabilities]
        return {
            "kind": "points",
            "classes": list(self.classes),
            "doubling": self.unit.doubling,
            "tolerance": self.unit.tolerance,
            "base": self.base[0] if len(self.base) == 1 else list(self.base),
            "tables": columns,
            "unused": list(self.unused),
            "probabilities": totals,
            **({} if self.off is None else {"off": self.off}),
        }


def _points_card(
    model: AdditiveModel | Linear, classes: tuple[str, ...], unit: PointUnit, lines: int | Literal["all"] | None
) -> PointsCard:
    additive, off = as_additive(model), None
    if lines != "all":
        short = merged(additive, lines)
        additive, off = short.model, float(unit.points(np.array(max(short.off, default=0.0)))) + unit.tolerance
    found = tables(additive, unit)
    intercept = unit.points(np.atleast_1d(additive.intercept))
    if intercept.size > 1:
        intercept = intercept - intercept.mean()
    base = np.rint(intercept).astype(np.intp) + np.sum([table.base for table in found], axis=0, dtype=np.intp)
    used = {column for table in found if table.lines for column in table.columns}
    unused = tuple(name for number, name in enumerate(model.schema.names) if number not in used)
    shares: tuple[tuple[int, float], ...] = ()
    if intercept.size == 1:
        totals = [round(doublings * unit.doubling) for doublings in TOTALS]
        shares = tuple(zip(totals, _share(model, unit.nats(np.array(totals, dtype=float))).tolist(), strict=True))
    kept = tuple(table for table in found if table.lines)
    return PointsCard(model.schema, classes, unit, tuple(base.tolist()), kept, unused, shares, off)


def _share(model: AdditiveModel | Linear, scores: FloatArray) -> FloatArray:
    """What `predict_proba` says of a score."""
    return model.probabilities(scores) if isinstance(model, AdditiveModel) else np.asarray(expit(scores))


# --- votes and trees -----------------------------------------------------------------------------------------


@attrs.frozen
class Sparsity:
    """How many of the Boolean features a model uses: the paper's Tables 3 and 5 to 7.

    features: with a net vote, or in a split of a tree; a constant is none.  available: how many the schema has.
    """

    features: int
    available: int

    @property
    def share(self) -> float:
        """Of the available ones, in [0, 1]."""
        return self.features / self.available

    @staticmethod
    def of(model: VoteModel) -> "Sparsity":
        """Of boosted 1-Rules or trees."""
        return Sparsity(len(_used(model)), model.layout.d)

    @staticmethod
    def over(models: Sequence[VoteModel]) -> tuple[float, float, float]:
        """Mean and standard deviation of the number of features over several runs, and the mean share."""
        found = [Sparsity.of(model) for model in models]
        counts = [each.features for each in found]
        return float(np.mean(counts)), float(np.std(counts)), float(np.mean([each.share for each in found]))


def _used(model: VoteModel) -> set[int]:
    voting = {feature for feature, votes in model.net_votes.items() if votes and feature != CONSTANT}
    return voting | set(model.splits)


@attrs.frozen
class VoteCard(Scorecard):
    """Votes of 1-Rules, trees in words, or what else a boosted vote consists of.

    classes: their names, the second positive.
    """

    model: VoteModel
    classes: tuple[str, ...]

    @property
    def sparsity(self) -> Sparsity:
        """How many features it asks for."""
        return Sparsity.of(self.model)

    def sections(self) -> list[CardSection]:
        sparse, rounds = self.sparsity, len(self.model.rules)
        used = f"{sparse.features} of {sparse.available} features are used ({sparse.share:.2%}), in {rounds} rounds."
        if self._one_rules:
            return [CardSection("How to read it", (*self._advice(), used)), self._table("Votes", "votes", "+d")]
        advice = f"Every tree has one vote; more votes for {self.classes[1]!r} than for {self.classes[0]!r} win."
        return [
            CardSection("How to read it", (advice, used)),
            self._table("Features", "splits", "d"),
            CardSection("Trees", (self.model.text(),), verbatim=True),
        ]

    @property
    def _one_rules(self) -> bool:
        return all(isinstance(rule, OneRule) for rule in self.model.rules)

    def _advice(self) -> tuple[str, ...]:
        negative, positive = self.classes
        return (
            "Add the votes of every line that holds, and take off those of every line that does not; a constant always "
            f"holds. A sum above 0 says {positive!r}, any other {negative!r}.",
        )

    def _table(self, heading: str, what: str, form: str) -> CardSection:
        rows = tuple((format(vote.votes, form), vote.feature, vote.value) for vote in self.model.table())
        return CardSection(heading, headers=(what, "column", "is"), rows=rows, numbers=(what,))

    def as_dict(self) -> dict[str, object]:
        lines = [attrs.asdict(vote) for vote in self.model.table()]
        sparse = {**attrs.asdict(self.sparsity), "share": self.sparsity.share}
        card = {"classes": list(self.classes), "rounds": len(self.model.rules), "sparsity": sparse}
        if self._one_rules:
            return {"kind": "votes", **card, "votes": lines}
        return {"kind": "trees", **card, "splits": lines, "text": self.model.text()}


@attrs.frozen
class ForestCard(Scorecard):
    """Which columns the trees of a forest ask for; there are too many to be read one by one.

    trees: how many.  splits: column with the number of splits, the most frequent first.
    """

    classes: tuple[str, ...]
    trees: int
    splits: tuple[tuple[str, int], ...]

    def sections(self) -> list[CardSection]:
        rows = tuple((name, str(splits)) for name, splits in self.splits)
        text = (f"{self.trees} trees. Their leaves add up, and a sum above 0 says {self.classes[1]!r}.",)
        return [CardSection("Columns", text, headers=("column", "splits"), rows=rows, numbers=("splits",))]

    def as_dict(self) -> dict[str, object]:
        splits = [{"column": name, "splits": splits} for name, splits in self.splits]
        return {"kind": "forest", "classes": list(self.classes), "trees": self.trees, "splits": splits}


def _forest_card(model: ForestModel | BoostedTreesModel, classes: tuple[str, ...]) -> ForestCard:
    trees = model.trees if isinstance(model, ForestModel) else [each.tree for each in model.trees]
    asked = Counter(split.column for tree in trees for split in tree.splits if split.right)
    names = model.schema.names
    ordered = sorted(asked.items(), key=lambda item: (-item[1], item[0]))
    return ForestCard(classes, len(trees), tuple((names[column], splits) for column, splits in ordered))


# --- the entry -----------------------------------------------------------------------------------------------


def scorecard(
    fitted: PrivateEstimator[Any, Any] | Readable,
    *,
    doubling: float = DOUBLING,
    tolerance: float = TOLERANCE,
    lines: int | Literal["all"] | None = "all",
) -> Scorecard:
    """A fitted estimator, or the model inside it, as a card. It follows from releases and costs nothing.

    doubling: points for which the odds double.  tolerance: how many points a line may be off, at least 0.5; larger
    gives fewer lines.  lines: of a column or pair at most, from 2; cells that noise does not tell apart are then put
    together; None for a dozen and no more than the schema's `bins`; "all" for what the tolerance needs, which answers
    as `predict` does almost to the point. All three are for models whose columns add up.
    Raises TypeError for a model that there is no card for.
    """
    model, classes = opened(fitted)
    if isinstance(model, RegressionModel):
        return number_card(model, lines)
    if isinstance(model, AdditiveModel | Linear):
        return _points_card(model, classes, PointUnit(doubling, tolerance), lines)
    if isinstance(model, VoteModel):
        return VoteCard(model, classes)
    if isinstance(model, ForestModel | BoostedTreesModel):
        return _forest_card(model, classes)
    raise TypeError(f"there is no scorecard for a {type(model).__name__}")


def opened(fitted: PrivateEstimator[Any, Any] | Readable) -> tuple[Any, tuple[str, ...]]:
    """The model inside, and what its classes are called: by the estimator, else by the schema's label, else 0, 1, …

    Raises NotFittedError.
    """
    if isinstance(fitted, PrivateEstimator):
        model = fitted._fitted()
        named = fitted.classes_.tolist() if hasattr(fitted, "classes_") else []  # a regression has none
        return model, tuple(map(str, named))
    if fitted.schema.label is not None:
        return fitted, fitted.schema.label.classes
    return fitted, tuple(map(str, range(fitted.classes if isinstance(fitted, AdditiveModel) else 2)))
