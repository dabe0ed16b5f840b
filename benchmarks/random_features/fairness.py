"""Fairness: Table 2 of 004 and excess risk by group, with the noise that makes them, without it, and at a true ε."""

from functools import partial

import attrs

from benchmarks.random_features.random_feature_fairness import (
    CASES,
    NUMBER,
    Case,
    case,
    demographics,
    figure9,
    figures_7_and_8,
    private_parity,
    rls_bounds,
    table2,
)
from benchmarks.runner import Part, Setting, Table

QUICK_RECORDS = 300


def parts(setting: Setting) -> list[Part]:
    """By data set and group. quick: on 300 records of medical costs."""
    quick = setting.quick
    columns = ("smoker",) if quick else tuple(CASES)
    splits, draws, number = (1, 10, 700) if quick else (10, 100, NUMBER)
    maps, repeats = (1, 2) if quick else (4, 20)

    def load(column: str) -> Case:
        found = case(setting.data, column)
        return attrs.evolve(found, data=found.data.few(QUICK_RECORDS)) if quick else found

    def risks(column: str) -> list[Table]:
        found = load(column)
        return [*figures_7_and_8(found, splits, draws, number), rls_bounds(found, splits)]

    def parity(column: str) -> list[Table]:
        return [table2(load(column), maps, repeats, number)]

    def groups(column: str) -> list[Table]:
        return [demographics(load(column), 1.0, splits)]

    def seconds(others: float, wines: float, column: str) -> float:
        return 0.3 if quick else wines if column == "colour" else others

    return [
        *(Part(f"Table 2, {each}", partial(parity, each), seconds(3.0, 50.0, each)) for each in columns),
        *(Part(f"Figures 7 and 8, {each}", partial(risks, each), seconds(12.0, 40.0, each)) for each in columns),
        Part("Figure 9", lambda: [figure9(load("smoker"), number)], 0.1 if quick else 1.0),
        Part("private parity", lambda: [private_parity([*map(load, columns)], splits)], 0.2 if quick else 8.0),
        *(Part(f"by group, {each}", partial(groups, each), seconds(1.0, 4.0, each)) for each in columns),
    ]
