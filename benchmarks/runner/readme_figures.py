"""What stands between the markers of README.md and docs, by name: tables and sentences, from files of full runs."""

import textwrap
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from benchmarks.runner.plots import draw
from benchmarks.runner.readme import (
    Maker,
    NotThere,
    Runs,
    markdown_rows,
    number,
    short,
    table,
)
from benchmarks.runner.report import Measured


def sentences(text: str) -> str:
    """As a paragraph of a page."""
    return textwrap.fill(" ".join(text.split()), 120, break_on_hyphens=False, break_long_words=False)


EPSILONS: Final = ("0.05", "0.1", "0.2", "0.5", "1", "3")
TITLES: Final = ("Adult", "Cod-RNA", "Mushroom")


def recommended(runs: Runs) -> str:
    """Accuracy and AUC of PrivateBoost, and of DP-EBM the better of two learning rates in each cell."""

    def both(title: str, rows: Sequence[str], epsilon: str) -> str:
        cells = (
            max(number(runs, "peers", f"{what}: {title},", row, f"ε={epsilon}").value for row in rows)
            for what in ("accuracy", "AUC")
        )
        return " / ".join(short(cell, 3) for cell in cells)

    lines = []
    for title in TITLES:
        for name, rows in (
            (title, ["PrivateBoost, add-remove-one"]),
            (f"{title}, DP-EBM", ["DP-EBM, defaults", "DP-EBM, rate 0.1 (interpret)"]),
        ):
            lines.append([name, *(both(title, rows, epsilon) for epsilon in EPSILONS)])
    return f"{markdown_rows(('', 'ε = 0.05', *EPSILONS[1:]), lines)}\n\n{of_run(runs, 'peers')}"


def of_run(runs: Runs, benchmark: str) -> str:
    """When a benchmark was run, and of what code."""
    return f"Run of {runs[benchmark].date}, commit {runs[benchmark].commit}."


DOMAINS: Final = ("abalone", "wine-white", "magic", "firm-teacher", "banknote", "sonar")
RADO_ROWS: Final = {
    "AdaBoost, all records": "AdaBoost",
    "RadoBoost, best on 1,000 rados or fewer": "RadoBoost, best on the rados",
    "the same, smoothed (our default)": "RadoBoost, best on the rados, smoothed",
}


def rados(runs: Runs) -> str:
    """Test error of RadoBoost beside AdaBoost, with a constant feature."""
    titles = [f"Table 1 of 000, features with a constant, {which}" for which in ("domains with", "the other")]

    def error(domain: str, column: str) -> str:
        for title in titles:
            for each in table(runs, "rados", title).cells():
                if each.row.startswith(f"{domain} ") and each.column == column and isinstance(each.cell, Measured):
                    return f"{each.cell.value:.1f}"
        raise NotThere(f"rados: no error of {column} on {domain}")

    rows = [[name, *(error(domain, column) for domain in DOMAINS)] for name, column in RADO_ROWS.items()]
    return markdown_rows(("", *DOMAINS), rows)


def rado_noise(runs: Runs) -> str:
    """Noise on rados against noise on edges."""
    title = "magic, whole records protected"
    ours, edges = (
        number(runs, "rados", title, f"RadoBoost, noise on {what}", "ε=1").value for what in ("rados", "edges")
    )
    return sentences(f"""
        Noise on rados beats noise on edges almost everywhere (magic at ε = 1: {ours:.0f} against {edges:.0f}), and both
        lose to `HalfspaceBoostClassifier` where nobody needs the file.""")


SOLVERS: Final = {
    "`descent`": "descent",
    "`objective`": "objective",
    "`adassp`": "adassp",
    "`sgd`": "sgd, best",
    "`ridge`, linear": "ridge, linear",
    "`min-norm`": "min-norm",
    "mean of the labels, private": "private mean",
    "least squares, not private": "OLS",
}


def random_features(runs: Runs) -> str:
    """Test errors by solver."""

    def error(data: str, row: str, epsilon: str) -> str:
        found = number(runs, "random-features", f"{data}: test error over", row, f"ε = {epsilon}").value
        return short(found, 4 if found < 0.1 else 2)

    given = ("0.5", "1", "3")
    rows = [
        [name, *(error(data, row, epsilon) for data in ("medical cost", "wine quality") for epsilon in given)]
        for name, row in SOLVERS.items()
    ]
    return markdown_rows(("", "medical, ε = 0.5", "1", "3", "wine, ε = 0.5", "1", "3"), rows)


def published_noise(runs: Runs) -> str:
    """What the noise of 004 really costs."""

    def least(row: str) -> float:
        title = "Least ε of 004's noise, medical cost, frequencies of variance 1600"
        return number(runs, "random-features", title, row, "the code's noise, ε = 1").value

    return sentences(f"""
        The paper's bound on how far coefficients move holds for most data and not for the worst neighbours
        ([004-Lem9](../../CLAIMS.md)). Take the experiments of its code, at a nominal ε of 1, and replace a record of
        the medical data by another real one. That shows at ε = {least("median of"):.1f} for the median, and at
        {least("worst real"):.0f} for the worst of those tried. Made-up records show far above. Made private,
        interpolation is noise. Descent is not: what its noise does to a prediction does not grow with the number of
        features.""")


def speed(runs: Runs) -> str:
    """How long fits take beside peers, and how that grows."""
    adult = "Adult, ε = 1, δ = 1e-5: seconds of a fit"

    def over(who: str) -> str:
        return f"{number(runs, 'speed', adult, f'{who} over ours, from codes').value:.0f}"

    ours = number(runs, "speed", adult, "boosted 1-Rules, 100 rounds, from codes").value
    text = number(runs, "speed", adult, "boosted 1-Rules, 100 rounds, from columns of text").value
    many = "10,000,000 records"
    memory = number(runs, "speed", many, "memory").value
    fit = number(runs, "speed", "Growth", "seconds of a fit", "records=10,000,000").value
    return sentences(f"""
        100 rounds of boosted 1-Rules on Adult, encoded, take {1000 * ours:.0f} ms on one core of a small machine,
        secure noise and ledger included, and {1000 * text:.0f} ms from columns of text: interpret's DP-EBM takes
        {over("DP-EBM, defaults (interpret)")} times as long as the former, diffprivlib's logistic regression
        {over("logistic regression, C=1 (diffprivlib)")} times. Fifty rounds on 10⁷ records of fourteen codes take
        {fit:.0f} s and {memory:.1f} GiB, the data included. {of_run(runs, "speed")}""")


def one_run(runs: Runs) -> str:
    """How much of a charge one run shows, at ε = 1 and 4."""

    def shown(title: str) -> dict[str, float]:
        ending = ": by its releases, over charged"
        cells = table(runs, "one-run", title).cells()
        return {
            each.row.removesuffix(ending): each.cell.value
            for each in cells
            if each.row.endswith(ending) and isinstance(each.cell, Measured)
        }

    found = [shown(f"Shown of ε = {epsilon} by Gaussian releases") for epsilon in (1, 4)]
    ridge, none = "linear features, ridge", "random features, min-norm"
    others = [value for each in found for name, value in each.items() if name not in (ridge, none)]
    if any(short(each[none], 2) != ".00" for each in found):
        raise NotThere("one-run: the page says that one run proves nothing of min-norm interpolation")
    least, most = short(min(others), 2), short(max(others), 2)
    of_ridge = " and ".join(short(each[ridge], 2) for each in found)
    return sentences(f"""
        By their releases one run proves about half of the charge of our Gaussian learners: {least} to {most} of it at
        ε = 1 and 4. It proves less for ridge regression with its default penalty ({of_ridge}), and nothing for min-norm
        interpolation, where one run cannot. {of_run(runs, "one-run")}""")


def blocks(runs: Runs) -> str:
    """What 10^8 records take, and what a cluster moves."""
    many, growth = "100,000,000 records from Parquet", "From Parquet: 10 rounds of 1-Rules"
    additive = number(runs, "blocks", f"Additive boosting of {many}", "memory").value
    its_round = number(
        runs, "blocks", "From Parquet: additive boosting", "a round per record", "records=100,000,000"
    ).value
    memory = number(runs, "blocks", many, "memory").value
    times = number(runs, "blocks", many, "a round's time per record").value
    a_round = number(runs, "blocks", growth, "a round per record", "records=100,000,000").value
    moved = number(runs, "blocks", "Two Dask workers", "5,000,000 records in 8 partitions", "KiB in a round").value
    return sentences(f"""
        10⁸ records of fourteen codes, from Parquet, take {memory:.1f} GiB and {a_round:.0f} ns a record and round of
        1-Rules, {times:.2f} times what 10⁶ take; additive boosting without pairs takes {additive:.1f} GiB and
        {its_round:.0f} ns. With two Dask workers a round moves {moved:.0f} KiB, whatever the
        number of records.""")


PICTURES: Final = {
    "accuracy-on-adult.png": ("peers", "accuracy: Adult,"),
    "prices-by-rounds.png": ("composition", "ε over exact law, rounds of BoundedRange(0.05)"),
}
"""The pictures that these pages show, and the benchmark and the beginning of the title of the table that each shows."""


def draw_pictures(runs: Runs, folder: Path) -> None:
    """Draw them, and nothing else that was drawn before."""
    for old in folder.glob("*.png"):
        old.unlink()
    for name, (benchmark, title) in PICTURES.items():
        draw(table(runs, benchmark, title), folder / name)


FIGURES: Final[dict[str, Maker]] = {
    "recommended": recommended,
    "rados": rados,
    "rado-noise": rado_noise,
    "random-features": random_features,
    "published-noise": published_noise,
    "speed": speed,
    "blocks": blocks,
    "one-run": one_run,
}
