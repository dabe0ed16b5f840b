"""From fitted learners to portable models: one function for each kind of model that a learner keeps."""

from collections.abc import Callable, Mapping
from typing import Any, Final

import attrs
import numpy as np
from sklearn.utils.validation import check_is_fitted

from accountant.arrays import FloatArray
from learners.additive import AdditiveModel
from learners.base import PrivateEstimator
from learners.exports.columns import branch, by_code, inputs_of, numbers_as_they_are, steps_of
from learners.exports.portable_model import (
    Amount,
    Branch,
    ClippedShare,
    Leaf,
    Linear,
    LineShare,
    Link,
    LogisticShare,
    LookUp,
    ManyClasses,
    NotPortable,
    PortableModel,
    Share,
    Term,
    TwoClasses,
    VoteShare,
    of_outputs,
)
from learners.halfspaces import HalfspaceModel
from learners.linear import LogisticModel
from learners.regression import RegressionModel
from learners.tables import Schema
from learners.trees import BoostedTreesModel, CompleteTree, ForestModel, StudentModel
from learners.votes import CONSTANT, OneRule, Tree, VoteModel
from mechanisms.gradients import CLIP, GRADIENT_UNIT, ONE

Estimator = PrivateEstimator[Any, Any]

EVEN: Final = float(np.nextafter(0.5, 1.0))
"""The least probability that answers with the second class."""


def portable(estimator: Estimator) -> PortableModel:
    """What back ends render. Raises NotPortable for a model that has no such form, and NotFittedError."""
    check_is_fitted(estimator)
    model = estimator.model_
    kind = type(estimator).__name__
    convert = _CONVERSIONS.get(type(model))
    if convert is None:
        able = ", ".join(EXPORTABLE)
        raise NotPortable(f"{kind}: {_WHY_NOT.get(kind, 'no form of it is known')}. What is exported: {able}")
    about = (f"A {kind} of Exchequer. {estimator.statement_.heading}: {estimator.statement_.guarantee}",)
    schema: Schema | None = getattr(model, "schema", None)
    return attrs.evolve(convert(estimator, model), about=about, file=None if schema is None else schema.file)


EXPORTABLE: Final = (
    "PrivateBoostClassifier",
    "PrivateBoostRegressor",
    "LazyBoostClassifier of 1-Rules or trees",
    "HalfspaceBoostClassifier",
    "DPLogisticRegression",
    "DPRandomForestClassifier",
    "DPGradientBoostingClassifier",
    "DPBaggingClassifier",
)
"""Learners with a portable form."""

_WHY_NOT: Final[Mapping[str, str]] = {
    "RandomFeatureClassifier": "its score is a sum over hundreds of random waves of all columns, which no table of "
    "cells holds",
    "RandomFeatureRegressor": "its prediction is a sum over hundreds of random waves of all columns, which no table of "
    "cells holds",
    "RadoBoostClassifier": "its columns are scaled by released numbers first, which the portable form has no place for",
    "RadoRelease": "it is a release, and no model; learn one from it with `exchequer rados fit`",
}


def _model(schema: Schema, start: FloatArray, terms: list[Term], link: Link, divisor: float = 1.0) -> PortableModel:
    numbers = tuple(float(each) for each in np.atleast_1d(start))
    return PortableModel((), inputs_of(schema), numbers, tuple(terms), link, divisor)


def _two(estimator: Estimator, share: Share | None) -> TwoClasses:
    first, second = estimator.classes_.tolist()
    return TwoClasses((first, second), share)


# --- additive models -------------------------------------------------------------------------------------------------


def _additive_terms(model: AdditiveModel) -> list[Term]:
    found: list[Term] = []
    for term in model.terms:
        steps = (steps_of(model.schema, *pair) for pair in zip(term.columns, term.maps, strict=True))
        found.append(LookUp(tuple(steps), term.values if model.intercept.ndim else of_outputs(term.values)))
    return found


def _additive(estimator: Estimator, model: AdditiveModel) -> PortableModel:
    terms = _additive_terms(model)
    if model.intercept.ndim:
        return _model(model.schema, model.intercept, terms, ManyClasses(tuple(estimator.classes_.tolist()), True))
    share: Share = ClippedShare(CLIP / ONE, model.slope)
    if model.calibration is not None:
        at, shares = model.calibration.curve
        share = LineShare(tuple(at.tolist()), tuple(shares.tolist()), model.threshold, EVEN)
    return _model(model.schema, model.intercept, terms, _two(estimator, share))


def _regression(estimator: Estimator, model: RegressionModel) -> PortableModel:
    lower, upper = model.bounds
    link = Amount(lower, upper, model.log, model.most_score if model.log else 0.0)
    return _model(model.schema, model.additive.intercept, _additive_terms(model.additive), link)


# --- votes, and sums over codes ----------------------------------------------------------------------------------


def _votes(estimator: Estimator, model: VoteModel) -> PortableModel:
    if model.calibration is not None:
        raise NotPortable(
            "LazyBoostClassifier: with calibration its score is a log-odds of a curve of votes, which the portable "
            "form has no place for; fit with calibration=0"
        )
    if strange := {type(rule).__name__ for rule in model.rules if not isinstance(rule, OneRule | Tree)}:
        raise NotPortable(f"LazyBoostClassifier: {', '.join(sorted(strange))} is known to your code only")
    tables: dict[int, FloatArray] = {}
    for feature, votes in model.net_votes.items():
        if feature != CONSTANT:
            column, members = model.layout.feature(feature)
            table = tables.setdefault(column, np.zeros(model.schema.columns[column].cells))
            table += votes * np.where(members, 1.0, -1.0)
    terms: list[Term] = [by_code(model.schema, column, table) for column, table in sorted(tables.items())]
    terms += [_voting_tree(model, rule) for rule in model.rules if isinstance(rule, Tree)]
    start = np.asarray(float(model.net_votes[CONSTANT]))
    return _model(model.schema, start, terms, _two(estimator, VoteShare()), float(max(1, len(model.rules))))


def _voting_tree(model: VoteModel, tree: Tree) -> Branch | Leaf:
    """Splits in the order in which they were chosen: each cuts a leaf of those before."""
    below: dict[int, Branch | Leaf] = {leaf: Leaf((float(label),)) for leaf, label in enumerate(tree.labels)}
    for number in range(len(tree.splits), 0, -1):
        split = tree.splits[number - 1]
        column, members = model.layout.feature(split.feature)
        below[split.leaf] = branch(model.schema, column, members, below[split.leaf], below.pop(number))
    return below[0]


def _logistic(estimator: Estimator, model: LogisticModel) -> PortableModel:
    return _coded(estimator, model.schema, model.intercept, model.tables)


def _student(estimator: Estimator, model: StudentModel) -> PortableModel:
    return _coded(estimator, model.schema, model.weights[-1], model.tables)


def _coded(estimator: Estimator, schema: Schema, start: float, tables: list[FloatArray]) -> PortableModel:
    """A sum of what each code of each column has."""
    terms: list[Term] = [by_code(schema, column, table) for column, table in enumerate(tables)]
    return _model(schema, np.asarray(start), terms, _two(estimator, LogisticShare()))


def _forest(estimator: Estimator, model: ForestModel) -> PortableModel:
    terms: list[Term] = [_complete(model.schema, *each) for each in zip(model.trees, model.votes, strict=True)]
    zero = np.zeros(())
    if not model.counted:
        return _model(model.schema, zero, terms, _two(estimator, VoteShare()), float(len(model.trees)))
    return _model(model.schema, zero, [*terms, Leaf((model.prior,))], _two(estimator, LogisticShare()))


def _boosted_trees(estimator: Estimator, model: BoostedTreesModel) -> PortableModel:
    # Units are powers of two and sums of them whole numbers below 2^53, so that they may be scaled before.
    terms: list[Term] = [
        _complete(model.schema, each.tree, np.array(each.values, dtype=np.float64) * GRADIENT_UNIT)
        for each in model.trees
    ]
    share: Share = LogisticShare() if model.loss == "logistic" else VoteShare()
    return _model(model.schema, np.zeros(()), terms, _two(estimator, share))


def _complete(schema: Schema, tree: CompleteTree, values: FloatArray, node: int = 0) -> Branch | Leaf:
    """The part below a node in heap order. values: of the leaves."""
    if node >= len(tree.splits):
        return Leaf((float(values[node - len(tree.splits)]),))
    no, yes = (_complete(schema, tree, values, 2 * node + side) for side in (1, 2))
    split = tree.splits[node]
    if not split.right or no == yes:
        return no
    members = np.isin(np.arange(schema.columns[split.column].cells), split.right)
    return branch(schema, split.column, members, no, yes)


# --- halfspaces ---------------------------------------------------------------------------------------------------


def _halfspace(estimator: Estimator, model: HalfspaceModel) -> PortableModel:
    names = model.names or tuple(f"x{number}" for number in range(model.normal.size))
    terms = (Linear(tuple(model.normal.tolist())),)
    return PortableModel((), numbers_as_they_are(names), (model.intercept,), terms, _two(estimator, None))


Conversion = Callable[[Estimator, Any], PortableModel]

_CONVERSIONS: Final[Mapping[type, Conversion]] = {
    AdditiveModel: _additive,
    RegressionModel: _regression,
    VoteModel: _votes,
    LogisticModel: _logistic,
    StudentModel: _student,
    ForestModel: _forest,
    BoostedTreesModel: _boosted_trees,
    HalfspaceModel: _halfspace,
}
