"""A round of boosted 1-Rules, and of boosted trees, against reading the encoded columns once.

What is asked is "within 3 times of the time of reading its encoded columns once", which can be read in four ways, from
the kindest to the hardest: a histogram of each column, which is the least that a learner of tables needs to know of it;
numpy's sum of the codes as bytes, in which they are kept, and which its arithmetic limits, not memory; the same as
64-bit integers, which is what `fit` makes of a table; and the largest byte, which numpy finds as fast as the cache
gives the bytes: the bound of the machine. The second and the last are judged.
"""

import time
from collections.abc import Callable
from functools import partial
from typing import Final

import numpy as np

from benchmarks.boosted_trees import encoded, load
from benchmarks.runner import Line, Measured, Part, Report, Setting, Table, Work, at_most, seconds
from learners import EncodedSample, LazyBoostClassifier

THREE: Final = 3.0
SUMMING: Final = "summing the codes as bytes (numpy's arithmetic)"
BOUND: Final = "finding the largest byte (the bound of the machine)"


def readings(sample: EncodedSample) -> dict[str, Work]:
    """Ways to read all codes once."""
    codes = np.ascontiguousarray(sample.codes, dtype=np.uint8)
    wide = codes.astype(np.intp)
    return {
        "a histogram of each column": lambda: [np.bincount(column) for column in wide],
        SUMMING: codes.sum,
        "summing them as 64-bit integers": wide.sum,
        BOUND: codes.max,
    }


def rounds(fit: Callable[[Callable[[int, object], None]], object]) -> list[float]:
    """Seconds of each round of a fit but the first, which also prepares."""
    ends: list[float] = []
    fit(lambda number, hypothesis: ends.append(time.perf_counter()))
    return np.diff(ends).tolist()


def _as_bytes(sample: EncodedSample) -> EncodedSample:
    return EncodedSample(sample.layout, np.ascontiguousarray(sample.codes, dtype=np.uint8), sample.labels)


def anew(model: LazyBoostClassifier) -> LazyBoostClassifier:
    """Of the same parameters; no clone, as what is only timed need not be warned of as several fits."""
    return LazyBoostClassifier(**model.get_params())


def against_reading(what: str, sample: EncodedSample, model: LazyBoostClassifier, repeats: int, judged: bool) -> Report:
    """Medians over fits, each in turn with every way of reading. Secure noise, and all that the ledger does."""
    sample, works = _as_bytes(sample), readings(sample)
    taken: dict[str, list[float]] = {name: [] for name in works}
    ours: list[float] = []
    for _ in range(repeats):
        ours.append(float(np.median(rounds(lambda told: anew(model).fit_encoded(sample, on_round=told)))))
        for name, work in works.items():
            taken[name].append(float(np.median([seconds(work) for _ in range(9)])))
    lines = [Line("a round", Measured.median([1e6 * each for each in ours], unit="µs", form=".0f"))]
    for name, times in taken.items():
        lines.append(Line(name, Measured.median([1e6 * each for each in times], unit="µs", form=".1f")))
    for name, times in taken.items():
        ratio = Measured.median([a / b for a, b in zip(ours, times, strict=True)], unit="×", form=".2f")
        line = f"a round over {name}"
        lines.append(at_most(line, ratio, THREE) if judged and name in (SUMMING, BOUND) else Line(line, ratio))
    return Report(f"{what}: a round against reading {sample.n:,} × {len(sample.codes)} codes once", lines)


def one_rules(setting: Setting) -> list[Table]:
    """100 rounds on Adult."""
    sample = encoded(load(setting.data))
    model = LazyBoostClassifier(1.0, 1e-5, rounds=100, learning_rate=0.1, density=0.25)
    return [against_reading("1-Rules on Adult", sample, model, 2 if setting.quick else 15, not setting.quick)]


def trees(setting: Setting) -> list[Table]:
    """30 trees of three splits on Adult. A tree looks at all records, then at the smaller part of each leaf it cuts."""
    sample = encoded(load(setting.data))
    model = LazyBoostClassifier(1.0, 1e-5, weak_learner="top-down", rounds=30)
    return [against_reading("trees of 3 splits on Adult", sample, model, 2 if setting.quick else 9, False)]


def parts(setting: Setting) -> list[Part]:
    """One for each kind of hypothesis."""
    quick = setting.quick
    return [
        Part("a round of 1-Rules", partial(one_rules, setting), 1.0 if quick else 4.0),
        Part("a round of trees", partial(trees, setting), 1.0 if quick else 4.0),
    ]
