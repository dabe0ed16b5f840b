"""Fitting 100 rounds on Adult after encoding, against interpret's DP-EBM on the same machine in the same run.

DP-EBM bins inside its fit and has no form without; so both our times are shown, from codes and from text.
Secure noise on our side. Repeats alternate, medians are compared, and the comparison is a ratio.
"""

import statistics
import time
import warnings
from collections.abc import Callable

import pandas as pd

from benchmarks.adult import encoded, load
from benchmarks.report import Line, Report
from learners import LazyBoostClassifier


def seconds(work: Callable[[], object]) -> float:
    """Wall-clock time of one call."""
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def run(folder: str | None, quick: bool = False) -> Report:
    """The table. Needs the extra `bench`."""
    from interpret.privacy import DPExplainableBoostingClassifier

    data = load(folder)
    sample = encoded(data)
    numeric = {"age", "fnlwgt", "education-num", "capital-gain", "capital-loss", "hours-per-week"}
    table = pd.DataFrame(
        {name: values.astype(float) if name in numeric else values for name, values in data.train.items()}
    )
    target = (data.y_train == ">50K").astype(int)

    def ours() -> LazyBoostClassifier:
        return LazyBoostClassifier(1.0, 1e-5, rounds=100, learning_rate=0.1, density=0.25, schema=data.schema)

    def theirs() -> object:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # it warns that its bounds come from the data: true, and not our subject
            return DPExplainableBoostingClassifier(epsilon=1.0, delta=1e-5).fit(table, target)

    works: dict[str, Callable[[], object]] = {
        "ours, from codes": lambda: ours().fit_encoded(sample),
        "ours, from text columns": lambda: ours().fit(data.train, data.y_train),
        "DP-EBM": theirs,
    }
    times: dict[str, list[float]] = {name: [] for name in works}
    for name in works:
        works[name]()  # warm-up: imports, threads, compiled libraries
    for _ in range(3 if quick else 7):
        for name, work in works.items():
            times[name].append(seconds(work))
    median = {name: statistics.median(values) for name, values in times.items()}
    ratio = median["ours, from codes"] / median["DP-EBM"]
    lines = [Line(name, f"{value:.3f} s (median of {len(times[name])})") for name, value in median.items()]
    lines.append(Line("ours after encoding / DP-EBM", f"{ratio:.3f}", "≤ 0.25", ratio <= 0.25))
    total = median["ours, from text columns"] / median["DP-EBM"]
    lines.append(Line("ours with encoding / DP-EBM", f"{total:.3f}"))
    return Report("100 rounds on Adult against DP-EBM", tuple(lines))
