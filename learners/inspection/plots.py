"""Models as pictures: a curve per column, votes as bars, margins and advantages. Needs matplotlib (`exchequer[plots]`).

Every function draws on the Axes it is given, or on a new figure of pyplot, and returns the Axes.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import numpy.typing as npt

from accountant.arrays import FloatArray
from boosting import LazyBregman
from learners.additive import AdditiveModel, Term
from learners.base import PrivateClassifier
from learners.inspection.margins import BINS, MarginHistogram, advantages
from learners.inspection.margins import margin_histogram as counted_margins
from learners.inspection.point_tables import NINE_IN_TEN, Linear, as_additive
from learners.inspection.scorecards import Readable, opened
from learners.tables import MISSING_CELL, Categorical, Date, Numeric, Ordered, Schema, Table
from learners.votes import VoteModel

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MOST_BARS: Final = 30
"""Bars in one picture; the rest is left out and counted in the title."""

CROWDED: Final = 0.2
"""A numeric axis is drawn like a logarithm where half of what its curve does happens in this share of the range."""

SMOOTHED: Final = 25
"""Rounds that an advantage is averaged over."""

LONGEST: Final = 24
"""Letters of a category on an axis."""

UNPAID: Final = "on the {n} records given; these must not be the\ntraining records unless you pay for it"

POSITIVE, NEGATIVE = "tab:blue", "tab:red"


def new_figure(width: float, height: float) -> "Figure":
    """A figure that no window holds. Raises ImportError naming the extra where matplotlib is missing."""
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise ImportError("plots need matplotlib: pip install 'exchequer[plots]'") from error
    return Figure(figsize=(width, height), layout="constrained")


def _axes(ax: "Axes | None") -> "Axes":
    if ax is not None:
        return ax
    try:
        from matplotlib import pyplot
    except ImportError as error:
        raise ImportError("plots need matplotlib: pip install 'exchequer[plots]'") from error
    return pyplot.figure(layout="constrained").add_subplot()


def _said(text: str, longest: int = 10**6) -> str:
    """Text that matplotlib takes as it is: a dollar sign would begin a formula."""
    short = text if len(text) <= longest else text[: longest - 1] + "…"
    return short.replace("$", r"\$")


# --- curves ----------------------------------------------------------------------------------------------------


def additive(fitted: PrivateClassifier[Any] | Readable) -> tuple[AdditiveModel, tuple[str, ...]]:
    """The model whose columns add up, and its classes. Raises TypeError where columns do not add up."""
    model, classes = opened(fitted)
    if not isinstance(model, AdditiveModel | Linear):
        raise TypeError(f"the columns of a {type(model).__name__} do not add up: it has no curves")
    return as_additive(model), classes


def ordered_terms(model: AdditiveModel) -> list[Term]:
    """The most influential first, as `AdditiveModel.curves`."""
    return sorted(model.terms, key=lambda term: -_span(term))


def _span(term: Term) -> float:
    return float(np.max(np.ptp(_heads(term).reshape(-1, _heads(term).shape[-1]), axis=0)))


def _heads(term: Term) -> FloatArray:
    """Values with the classes as the last axis, one of size 1 for two classes."""
    few = term.values.ndim == len(term.columns)
    return np.asarray(term.values[..., None] if few else term.values)


def curve(fitted: PrivateClassifier[Any] | Readable, *columns: str, ax: "Axes | None" = None) -> "Axes":
    """The effect of a column on the log-odds: steps for numbers, bars for categories, a heat map for a pair.

    Around steps of two classes a band says how far noise may have moved them, where the model was saved with that.

    columns: one name, or the two of a pair that the model looks at together; without, the most influential.
    With three classes or more every class has a line or bars of its own; a pair shows the class that it matters to
    most. Raises KeyError for columns that the model has no table of.
    """
    model, classes = additive(fitted)
    names = [tuple(model.schema.columns[number].name for number in term.columns) for term in model.terms]
    if columns and columns not in names:
        raise KeyError(f"the model has no table of {columns}; it has {names}")
    term = model.terms[names.index(columns)] if columns else ordered_terms(model)[0]
    return draw_term(model.schema, term, classes, _axes(ax))


def draw_term(schema: Schema, term: Term, classes: Sequence[str], ax: "Axes") -> "Axes":
    """One term of an additive model."""
    if len(term.columns) == 2:
        return _heat_map(schema, term, classes, ax)
    column, values = schema.columns[term.columns[0]], _heads(term)[term.maps[0]]
    named = [None] if values.shape[-1] == 1 else [_said(name) for name in classes]
    effect = f"log-odds of {_said(classes[1])}" if len(named) == 1 else "score"
    if isinstance(column, Numeric):
        _steps(column, values, named, ax)
        if term.deviations is not None and len(named) == 1:
            unsure = term.deviations.reshape(-1, 1)[term.maps[0]]
            _band(column, values[: column.bin_number, 0], unsure[: column.bin_number, 0], ax)
        ax.set(xlabel=_said(column.name), ylabel=effect)
    else:
        cells = column.categories if isinstance(column, Categorical) else ("0", "1")
        _category_bars(cells, values, named, ax)
        ax.set(xlabel=effect, title=_left_out(_said(column.name), len(cells)))
    if len(named) > 1:
        ax.legend(fontsize="small")
    return ax


def _left_out(title: str, bars: int) -> str:
    return title if bars <= MOST_BARS else f"{title} (the {MOST_BARS} largest of {bars})"


def _steps(column: Numeric, values: FloatArray, named: Sequence[str | None], ax: "Axes") -> None:
    """One step per cell of the model, whatever number of codes it has."""
    own, values = values[column.bin_number :], values[: column.bin_number]
    starts = np.flatnonzero(np.append(True, np.any(np.diff(values, axis=0) != 0.0, axis=1)))
    edges = np.append(column.edges[starts], column.upper)
    for head, name in enumerate(named):
        drawn = ax.stairs(values[starts, head], edges, baseline=None, linewidth=1.5, label=name)
        for value in own[:, head]:
            said = MISSING_CELL if name is None else f"{name}, {MISSING_CELL}"
            ax.axhline(value, color=drawn.get_edgecolor(), linestyle=":", label=said)
    if own.size and len(named) == 1:
        ax.legend(fontsize="small")
    ax.axhline(0.0, color="grey", linewidth=0.5)
    if _crowded(column, edges, values[starts]):
        linear = 1e-3 * column.upper
        ax.set_xscale("symlog", linthresh=linear)
        # Its own choice of ticks crowds them at 0.
        ax.set_xticks([0.0, *10.0 ** np.arange(np.ceil(np.log10(linear)), np.log10(column.upper) + 1e-9)])
    if isinstance(column, Date | Ordered):  # whose numbers say nothing to a reader
        ax.set_xticks(np.linspace(column.lower, column.upper, min(column.bin_number, 4)))
        ax.xaxis.set_major_formatter(lambda number, _: column.said(number))
        ax.tick_params(axis="x", labelsize="small")
    ax.set_xlim(column.lower, column.upper)


def _band(column: Numeric, values: FloatArray, unsure: FloatArray, ax: "Axes") -> None:
    """How far noise may have moved each step, 9 times in 10."""
    low, high = (np.append(ends, ends[-1]) for ends in (values - NINE_IN_TEN * unsure, values + NINE_IN_TEN * unsure))
    ax.fill_between(column.edges, low, high, step="post", color=POSITIVE, alpha=0.15, linewidth=0.0)


def _crowded(column: Numeric, edges: FloatArray, values: FloatArray) -> bool:
    """Whether a scale like a logarithm's shows more: the curve moves mostly near 0, at the lower end of the range."""
    if not 0.0 <= column.lower <= 1e-3 * column.upper:
        return False
    moves = np.abs(np.diff(values, axis=0)).sum(axis=1)
    near = edges[1:-1] < column.lower + CROWDED * (column.upper - column.lower)
    return float(moves[near].sum()) > 0.5 * float(moves.sum())


def _category_bars(cells: Sequence[str], values: FloatArray, named: Sequence[str | None], ax: "Axes") -> None:
    kept = np.argsort(-np.abs(values).max(axis=1), kind="stable")[:MOST_BARS]
    kept = kept[np.argsort(values[kept, -1], kind="stable")]
    height = 0.8 / len(named)
    for head, name in enumerate(named):
        place = np.arange(kept.size) + (head - 0.5 * (len(named) - 1)) * height
        colours = [POSITIVE if value > 0.0 else NEGATIVE for value in values[kept, head]]
        ax.barh(place, values[kept, head], height, label=name, color=colours if name is None else None)
    ax.set_yticks(np.arange(kept.size), [_said(cells[cell], LONGEST) for cell in kept], fontsize="small")
    ax.axvline(0.0, color="grey", linewidth=0.5)


def _heat_map(schema: Schema, term: Term, classes: Sequence[str], ax: "Axes") -> "Axes":
    heads = _heads(term)
    head = int(np.argmax(np.ptp(heads.reshape(-1, heads.shape[-1]), axis=0)))
    values, spoken = heads[..., head], classes[1 if heads.shape[-1] == 1 else head]
    most = float(np.abs(values).max()) or 1.0
    image = ax.imshow(values, cmap="RdBu", vmin=-most, vmax=most, aspect="auto", origin="lower")
    down, across = (_cell_names(schema, column, cells) for column, cells in zip(term.columns, term.maps, strict=True))
    ax.set_yticks(np.arange(len(down)), down, fontsize="small")
    ax.set_xticks(np.arange(len(across)), across, fontsize="small", rotation=45, ha="right")
    names = [_said(schema.columns[column].name) for column in term.columns]
    ax.set(ylabel=names[0], xlabel=names[1], title=f"{names[0]} × {names[1]}: log-odds of {_said(spoken)}")
    ax.figure.colorbar(image, ax=ax)
    return ax


def _cell_names(schema: Schema, column: int, cells: npt.NDArray[np.intp]) -> list[str]:
    what = schema.columns[column]
    if isinstance(what, Numeric):
        starts = np.flatnonzero(np.diff(cells[: what.bin_number], prepend=-1))
        named = isinstance(what, Date | Ordered)
        edges = [what.said(edge) if named else f"{edge:.4g}" for edge in what.edges[starts].tolist()]
        return [f"≥ {edge}" for edge in edges] + [MISSING_CELL] * what.own_cell
    return [_said(cell, LONGEST) for cell in (what.categories if isinstance(what, Categorical) else ("0", "1"))]


def curves(fitted: PrivateClassifier[Any] | Readable, top: int = 6) -> "Figure":
    """The `top` most influential columns and pairs of a model whose columns add up, side by side in one figure."""
    model, classes = additive(fitted)
    terms = ordered_terms(model)[:top]
    across = min(3, len(terms))
    down = -(-len(terms) // across)
    figure = new_figure(4.5 * across, 3.2 * down)
    for place, term in enumerate(terms, 1):
        draw_term(model.schema, term, classes, figure.add_subplot(down, across, place))
    return figure


# --- votes -----------------------------------------------------------------------------------------------------


def votes(fitted: PrivateClassifier[Any] | Readable, *, ax: "Axes | None" = None) -> "Axes":
    """The vote table of boosted 1-Rules, or the features of boosted trees, as bars; most votes on top.

    Raises TypeError for a model that does not vote.
    """
    model, classes = opened(fitted)
    if not isinstance(model, VoteModel):
        raise TypeError(f"a {type(model).__name__} has no table of votes")
    drawn, lines = _axes(ax), model.table()
    shown = lines[:MOST_BARS][::-1]
    numbers = [vote.votes for vote in shown]
    drawn.barh(range(len(shown)), numbers, color=[POSITIVE if number > 0 else NEGATIVE for number in numbers])
    names = [_said(f"{vote.feature} {vote.value}".strip(), 2 * LONGEST) for vote in shown]
    drawn.set_yticks(range(len(shown)), names, fontsize="small")
    drawn.axvline(0.0, color="grey", linewidth=0.5)
    against, towards = (_said(name) for name in classes)
    what = f"votes: against {against}, for {towards} on the right" if model.net_votes else "splits"
    drawn.set(xlabel=what, title=_left_out("features", len(lines)))
    return drawn


# --- labelled records ------------------------------------------------------------------------------------------


def histogram(margins: MarginHistogram, *, ax: "Axes | None" = None) -> "Axes":
    """Records by margin, wrong ones in red; whiskers are two standard deviations of the noise.

    The title says whether it was paid for.
    """
    if margins.private:
        title = "margins, paid for"
    elif margins.deviation:
        title = "margins, with simulated noise: not private"
    else:
        title = "margins " + UNPAID.format(n=int(margins.counts.sum()))
    drawn, edges = _axes(ax), margins.edges
    middles, width = 0.5 * (edges[1:] + edges[:-1]), np.diff(edges)
    colours = [POSITIVE if middle > 0.0 else NEGATIVE for middle in middles]
    error = 2.0 * margins.deviation if margins.deviation else None
    drawn.bar(middles, margins.counts, width, color=colours, yerr=error, ecolor="grey")
    drawn.axvline(0.0, color="black", linewidth=0.8)
    drawn.set(xlabel="margin", ylabel="records")
    drawn.set_title(title, fontsize="medium")
    return drawn


def margin_histogram(
    fitted: PrivateClassifier[Any], X: Table, y: npt.ArrayLike, *, bins: int = BINS, ax: "Axes | None" = None
) -> "Axes":
    """By how much records are right: the paper's Figure 1, right.

    On the records given; these must not be the training records unless you pay for it, with
    `learners.inspection.margins.private_margin_histogram`, which `histogram` draws.
    """
    return histogram(counted_margins(fitted, X, y, bins=bins), ax=ax)


def advantage_curve(
    fitted: PrivateClassifier[Any],
    X: Table,
    y: npt.ArrayLike,
    *,
    booster: LazyBregman | None = None,
    ax: "Axes | None" = None,
) -> "Axes":
    """½ less each round's weighted error, and its mean over 25 rounds: the paper's Figure 1, left.

    On the records given; these must not be the training records unless you pay for it. booster: see
    `learners.inspection.margins.advantages`.
    """
    found, drawn = advantages(fitted, X, y, booster), _axes(ax)
    rounds, width = np.arange(1, found.size + 1), min(SMOOTHED, found.size)
    drawn.plot(rounds, found, color="lightgrey", marker=".", linewidth=0.8, label="each round")
    if width > 1:
        smooth = np.convolve(found, np.full(width, 1.0 / width), mode="valid")
        drawn.plot(rounds[width - 1 :], smooth, color=POSITIVE, label=f"mean of {width} rounds")
    drawn.axhline(0.0, color="black", linewidth=0.8)
    n = np.asarray(y).shape[0]
    drawn.set(xlabel="round", ylabel="advantage")
    drawn.set_title("advantage " + UNPAID.format(n=n), fontsize="medium")
    drawn.legend(fontsize="small")
    return drawn
