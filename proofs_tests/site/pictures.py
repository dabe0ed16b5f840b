"""Pictures of the explanations, drawn by code when the site is built; numbers come from the library itself."""

import io
import itertools
from collections.abc import Callable
from typing import TYPE_CHECKING, Final

import numpy as np

from accountant import BoundedRange, Plan, Step
from accountant.costs import ZCDP, gaussian, laplace_profile
from boosting import capped_scaling

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FOLDER: Final = "explanation/pictures"
BLUE, ORANGE, GREY = "#1f4fc4", "#c45a00", "#8a8f98"


def drawn() -> dict[str, bytes]:
    """Each picture, as PNG, by its place on the site."""
    return {f"{FOLDER}/{name}.png": _png(draw) for name, draw in PICTURES.items()}


def _png(draw: Callable[["Figure"], None]) -> bytes:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7.0, 3.2), layout="constrained")
    draw(figure)
    with io.BytesIO() as file:
        figure.savefig(file, format="png", dpi=90)
        return file.getvalue()


def adjacency(figure: "Figure") -> None:
    """A table, the same without a record, and the same with another record."""
    for ax, title, rows in zip(
        figure.subplots(1, 3),
        ("a data set", "add-remove-one: a neighbour", "replace-one: a neighbour"),
        (("A", "B", "C", "D", "E"), ("A", "B", "", "D", "E"), ("A", "B", "X", "D", "E")),
        strict=True,
    ):
        for place, name in enumerate(rows):
            colour = ORANGE if name == "X" else BLUE
            style = {"facecolor": colour, "alpha": 0.25} if name else {"fill": False, "linestyle": ":"}
            ax.add_patch(_box(place, **style))
            ax.text(0.5, -place + 0.4, f"record {name}" if name else "(not there)", ha="center", va="center")
        ax.set(xlim=(0, 1), ylim=(-4.2, 1.0), title=title)
        ax.set_axis_off()


def _box(place: int, **style: object) -> "object":
    from matplotlib.patches import Rectangle

    return Rectangle((0.02, -place), 0.96, 0.8, edgecolor="black", **style)  # type: ignore[arg-type]  # style by name


def costs(figure: "Figure") -> None:
    """δ against ε of single releases."""
    ax, at = figure.subplots(), np.linspace(0.02, 3.0, 150)
    laplace = np.maximum(laplace_profile(1.0, at), 0.0)
    bounded = np.maximum(np.exp(0.5) - np.exp(at / 2), 0.0) ** 2 / np.expm1(1.0)  # [L4]
    gauss = np.array([gaussian.delta(0.5, float(x)) for x in at])
    for label, curve, colour in (
        ("LaplaceDP(1)", laplace, BLUE),
        ("BoundedRange(1)", bounded, ORANGE),
        ("GDP(0.5)", gauss, "black"),
    ):
        ax.semilogy(at[curve > 1e-9], curve[curve > 1e-9], label=label, color=colour)
    deltas = np.logspace(-9, -2, 60)
    ax.semilogy(
        [ZCDP(0.125).to_approx(delta=float(d)).epsilon for d in deltas], deltas, "--", color=GREY, label="ZCDP(0.125)"
    )
    ax.axvline(1.0, color=GREY, linewidth=0.8)
    ax.text(1.02, 2e-9, "PureDP(1) ends here", fontsize=8)
    ax.set(xlabel="ε", ylabel="δ", ylim=(1e-9, 1))
    ax.legend(fontsize=8)


def composition(figure: "Figure") -> None:
    """ε of so many rounds of bounded range 0.1, by theorem."""
    ax, rounds = figure.subplots(), (1, 2, 4, 8, 16, 32, 64, 128)
    for route, label in (
        ("basic", "adding up ε"),
        ("zcdp", "zCDP"),
        ("renyi", "exact Rényi curve"),
        ("bounded-range", "adaptive optimum"),
    ):
        prices = [Plan([Step(BoundedRange(0.1), count)]).price(1e-5, routes=[route]).best for count in rounds]
        ax.loglog(rounds, [price.epsilon for price in prices], marker=".", label=label)
    ax.set_xticks(rounds, [str(count) for count in rounds])
    ax.minorticks_off()
    ax.set(xlabel="rounds", ylabel="ε at δ = 1e-5")
    ax.legend(fontsize=8)


def robust(figure: "Figure") -> None:
    """Normalised weights of eight records, and those after the margin of one has changed."""
    ax = figure.subplots()
    margins = np.array([-1.0, -0.6, -0.3, 0.0, 0.2, 0.5, 0.8, 1.2])
    changed = margins.copy()
    changed[3] = -2.0
    for offset, values, label, colour in ((-0.2, margins, "before", BLUE), (0.2, changed, "record 4 changed", ORANGE)):
        weights = capped_scaling(-values, np.ones(8, dtype=np.int64), 0.5)
        ax.bar(np.arange(1, 9) + offset, weights / weights.sum(), 0.4, label=label, color=colour)
    ax.axhline(1 / 4, color=GREY, linestyle="--")
    ax.text(8.5, 1 / 4, "1/(κn)", va="center")
    ax.set(xlabel="record", ylabel="share of the weight")
    ax.legend(fontsize=8)


def smooth_boosting(figure: "Figure") -> None:
    """Sorted weights of a hundred records after the same rounds."""
    ax = figure.subplots()
    margins = np.sort(np.random.default_rng(0).normal(1.0, 2.0, 100))
    exponential = np.exp(-margins)
    ax.plot(exponential / exponential.sum(), label="AdaBoost", color=ORANGE)
    smooth = capped_scaling(-margins, np.ones(100, dtype=np.int64), 0.25)
    ax.plot(smooth / smooth.sum(), label="smooth, κ = 1/4", color=BLUE)
    ax.axhline(1 / 25, color=GREY, linestyle="--")
    ax.text(101, 1 / 25, "1/(κn)", va="center")
    ax.set(xlabel="records, from the most to the least wrong", ylabel="share of the weight")
    ax.legend(fontsize=8)


def public_partitions(figure: "Figure") -> None:
    """A curve, and its means on public bins."""
    ax, at = figure.subplots(), np.linspace(17, 90, 400)
    curve = 2 * np.tanh((at - 40) / 12) - ((at - 50) / 30) ** 2
    edges = np.linspace(17, 90, 9)
    means = [curve[(at >= low) & (at <= high)].mean() for low, high in itertools.pairwise(edges)]
    ax.plot(at, curve, color=GREY, label="effect of age")
    ax.stairs(means, edges, color=BLUE, linewidth=2, baseline=None, label="on eight public bins")
    ax.set(xlabel="age", ylabel="log-odds")
    ax.legend(fontsize=8)


def rados(figure: "Figure") -> None:
    """Points of two classes, and rados of them."""
    rng = np.random.default_rng(0)
    points = rng.normal(size=(100, 2))
    labels = np.where(points[:, 0] + points[:, 1] > 0, 1.0, -1.0)
    left, right = figure.subplots(1, 2)
    for label, colour in ((1.0, BLUE), (-1.0, ORANGE)):
        left.scatter(*points[labels == label].T, s=8, color=colour, label=f"class {label:+.0f}")
    left.set(title="records")
    left.legend(fontsize=8)
    chosen = rng.integers(0, 2, size=(200, 100))
    right.scatter(*(chosen @ (points * labels[:, None])).T, s=8, color="black")
    right.set(title="200 rados of them")


def random_features(figure: "Figure") -> None:
    """A kernel and inner products of random features."""
    ax, at, rng = figure.subplots(), np.linspace(-4, 4, 300), np.random.default_rng(1)
    ax.plot(at, np.exp(-(at**2) / 2), color="black", label="Gaussian kernel")
    for count, colour in ((20, ORANGE), (200, BLUE)):
        ax.plot(at, np.cos(np.outer(at, rng.normal(size=count))).mean(axis=1), color=colour, label=f"{count} cosines")
    ax.set(xlabel="distance", ylabel="similarity")
    ax.legend(fontsize=8)


PICTURES: Final[dict[str, Callable[["Figure"], None]]] = {
    "adjacency": adjacency,
    "costs": costs,
    "composition": composition,
    "robust": robust,
    "smooth-boosting": smooth_boosting,
    "public-partitions": public_partitions,
    "rados": rados,
    "random-features": random_features,
}
"""By name, as pages of `docs/explanation` show them."""
