"""Pictures, really drawn: what is on them is what the model says."""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import attrs
import numpy as np
import pytest

from boosting import LazyBregman
from exchequer.datasets import DataSplit, breast_cancer
from learners import LazyBoostClassifier, Schema
from learners.additive.additive_model import AdditiveModel, Term
from learners.inspection.margins import MarginHistogram, advantages, margins
from learners.inspection.point_tables import as_additive
from learners.linear.logistic import DPLogisticRegression
from learners.tables.schema import Categorical, Label, Numeric
from learners.votes.majority_vote import VoteModel
from learners.votes.one_rules import OneRule
from proofs_tests.support.learners.readable import POINT, SCHEMA, additive, three_classes

matplotlib = pytest.importorskip("matplotlib", reason="needs matplotlib: pip install 'exchequer[plots]'")
matplotlib.use("Agg")

from matplotlib import pyplot  # noqa: E402  # only where there is one
from matplotlib.colors import to_rgba  # noqa: E402
from matplotlib.image import imread  # noqa: E402
from matplotlib.patches import Rectangle, StepPatch  # noqa: E402

from learners.inspection import plots  # noqa: E402

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


@pytest.fixture(autouse=True)
def _no_figure_is_left() -> Iterator[None]:
    yield
    pyplot.close("all")


@pytest.fixture(scope="module")
def cancer() -> DataSplit:
    return breast_cancer()


@pytest.fixture(scope="module")
def voting(cancer: DataSplit) -> LazyBoostClassifier:
    return LazyBoostClassifier(2.0, schema=cancer.schema, rounds=40, random_state=0).fit(cancer.train, cancer.y_train)


def steps(ax: "Axes") -> list[StepPatch]:
    return [patch for patch in ax.patches if isinstance(patch, StepPatch)]


def bars(ax: "Axes") -> list[Rectangle]:
    return [patch for patch in ax.patches if isinstance(patch, Rectangle)]


def ticks(ax: "Axes", axis: str = "y") -> list[str]:
    labels = ax.get_yticklabels() if axis == "y" else ax.get_xticklabels()
    return [label.get_text() for label in labels]


def drawn(figure: "Figure", path: Path) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
    """The PNG's pixels, after checking that it is one and not empty."""
    figure.savefig(path, dpi=50)
    assert path.read_bytes().startswith(b"\x89PNG")
    pixels = np.asarray(imread(path), dtype=np.float64)
    assert pixels[..., :3].std() > 0.01
    return pixels


# --- curves ----------------------------------------------------------------------------------------------------


def test_a_column_of_numbers_is_a_step_per_cell_in_its_own_unit(tmp_path: Path) -> None:
    ax = plots.curve(additive(), "age")
    (patch,) = steps(ax)
    values, edges, _ = patch.get_data()
    assert np.asarray(edges).tolist() == [0.0, 20.0, 60.0, 100.0]
    np.testing.assert_allclose(values, np.array([-30, 4, 31]) * POINT)
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("age", "log-odds of yes")
    assert ax.get_xlim() == (0.0, 100.0)
    assert ax.get_xscale() == "linear"
    pixels = drawn(pyplot.figure(ax.figure.number), tmp_path / "age.png")  # type: ignore[union-attr]  # a whole figure
    blue = np.all(np.abs(pixels[..., :3] - np.array(to_rgba("tab:blue"))[:3]) < 0.1, axis=-1)
    assert blue.sum() > 50


def test_a_band_says_how_far_noise_may_have_moved_a_step() -> None:
    schema, steps_up = Schema((Numeric("x", 0.0, 4.0, bins=4),)), np.array([0.0, 1.0, 2.0, 3.0])
    for unsure in (None, np.full(4, 0.5)):
        term = Term((0,), (np.arange(4),), steps_up, unsure)
        ax = plots.draw_term(schema, term, ("no", "yes"), pyplot.figure().add_subplot())
        assert len(ax.collections) == (unsure is not None)
    reach = ax.collections[0].get_paths()[0].get_extents()
    assert (reach.y0, reach.y1) == pytest.approx((-1.645 * 0.5, 3.0 + 1.645 * 0.5))


def test_a_curve_that_moves_near_zero_gets_an_axis_like_a_logarithm(tmp_path: Path) -> None:
    ax = plots.curve(additive(), "gain")
    assert ax.get_xscale() == "symlog"
    assert ax.get_xlim() == (0.0, 10000.0)
    assert ax.get_xticks().tolist() == [0.0, 10.0, 100.0, 1000.0, 10000.0]
    drawn(pyplot.figure(ax.figure.number), tmp_path / "gain.png")  # type: ignore[union-attr]  # a whole figure


def test_a_column_of_categories_is_a_bar_each_in_order() -> None:
    ax = plots.curve(additive(), "job")
    assert ticks(ax) == ["rest", "smith", "clerk", "?"]
    np.testing.assert_allclose([bar.get_width() for bar in bars(ax)], np.array([-40, -3, 12, 12]) * POINT)
    colours = [bar.get_facecolor() for bar in bars(ax)]
    assert colours == [to_rgba("tab:red")] * 2 + [to_rgba("tab:blue")] * 2
    assert ticks(plots.curve(additive(), "member")) == ["0", "1"]


def test_many_categories_are_cut_down_to_the_largest() -> None:
    names = tuple(f"c{number}" for number in range(50))
    effects = np.arange(50, dtype=np.float64) - 20.0
    model = AdditiveModel(Schema((Categorical("c", names),)), np.array(0.0), [Term((0,), (np.arange(50),), effects)])
    ax = plots.curve(model)
    assert len(bars(ax)) == plots.MOST_BARS
    assert ax.get_title() == "c (the 30 largest of 50)"
    assert ticks(ax)[-1] == "c49"
    assert "c20" not in ticks(ax)


def test_a_pair_is_a_heat_map(tmp_path: Path) -> None:
    ax = plots.curve(additive(), "gain", "member")
    (image,) = ax.images
    np.testing.assert_allclose(np.asarray(image.get_array()), np.array([[0, 7], [-9, 0]]) * POINT)
    assert image.get_clim() == (-9 * POINT, 9 * POINT)
    assert ticks(ax) == ["≥ 0", "≥ 100"]
    assert ticks(ax, "x") == ["0", "1"]
    assert ax.get_title() == "gain × member: log-odds of yes"
    drawn(pyplot.figure(ax.figure.number), tmp_path / "pair.png")  # type: ignore[union-attr]  # a whole figure


def test_three_classes_have_a_line_and_a_bar_each() -> None:
    ax = plots.curve(three_classes(), "age")
    legend = ax.get_legend()
    assert legend is not None
    assert [text.get_text() for text in legend.get_texts()] == ["a", "b", "c"]
    assert len(steps(ax)) == 3
    assert len(bars(plots.curve(three_classes(), "job"))) == 12


def test_the_most_influential_columns_side_by_side(tmp_path: Path) -> None:
    figure = plots.curves(additive(), top=4)
    assert [ax.get_xlabel() or ax.get_title() for ax in figure.axes][:1] == ["age"]
    shown = [ax for ax in figure.axes if ax.get_label() != "<colorbar>"]
    assert len(shown) == 4
    pixels = drawn(figure, tmp_path / "curves.png")
    assert pixels.shape[1] == round(3 * 4.5 * 50)
    assert pyplot.get_fignums() == []


def test_names_are_drawn_as_they_are(tmp_path: Path) -> None:
    """A dollar sign begins a formula in matplotlib, and two of a broken one make it raise."""
    schema = Schema((Categorical("$x_{", ("$a^", "b$\\frac")), Numeric("in $", 0.0, 1.0)), Label("l", ("n$", "$p$")))
    terms = [
        Term((0,), (np.arange(2),), np.array([-1.0, 1.0])),
        Term((1,), (np.arange(10),), np.arange(10, dtype=np.float64)),
    ]
    figure = plots.curves(AdditiveModel(schema, np.array(0.0), terms))
    drawn(figure, tmp_path / "names.png")
    assert figure.axes[0].get_xlabel() == r"in \$"


def test_a_linear_model_has_curves_too(cancer: DataSplit) -> None:
    model = DPLogisticRegression(3.0, 1e-5, schema=cancer.schema, random_state=0).fit(cancer.train, cancer.y_train)
    ax = plots.curve(model, "mean area")
    values, edges, _ = steps(ax)[0].get_data()
    column = cancer.schema.columns[cancer.schema.names.index("mean area")]
    assert isinstance(column, Numeric)
    term = as_additive(model.model_).terms[cancer.schema.names.index("mean area")]
    np.testing.assert_allclose(values, term.values)
    np.testing.assert_allclose(edges, column.edges)


def test_what_has_no_curves_is_refused(voting: LazyBoostClassifier) -> None:
    with pytest.raises(TypeError, match="do not add up"):
        plots.curve(voting)
    with pytest.raises(TypeError, match="no table of votes"):
        plots.votes(additive())
    with pytest.raises(KeyError, match="no table of"):
        plots.curve(additive(), "height")


# --- votes, margins, advantages --------------------------------------------------------------------------------


def test_votes_are_bars_with_the_most_on_top() -> None:
    model = VoteModel(SCHEMA, [OneRule(12, 1), OneRule(12, 1), OneRule(0, -1)])
    ax = plots.votes(model)
    assert ticks(ax) == ["age [0, 20)", "member 1"]
    assert [bar.get_width() for bar in bars(ax)] == [-1, 2]
    assert ax.get_xlabel() == "votes: against no, for yes on the right"


def test_margins_given_are_shown_with_the_warning(
    cancer: DataSplit, voting: LazyBoostClassifier, tmp_path: Path
) -> None:
    ax = plots.margin_histogram(voting, cancer.test, cancer.y_test, bins=20)
    found = bars(ax)
    assert len(found) == 20
    assert sum(bar.get_height() for bar in found) == cancer.y_test.size
    wrong = sum(bar.get_height() for bar in found if bar.get_facecolor() == to_rgba("tab:red"))
    assert wrong == np.sum(margins(voting, cancer.test, cancer.y_test) <= 0.0)
    assert "these must not be the\ntraining records unless you pay for it" in ax.get_title()
    drawn(pyplot.figure(ax.figure.number), tmp_path / "margins.png")  # type: ignore[union-attr]  # a whole figure


def test_a_noisy_histogram_says_what_it_is() -> None:
    paid = MarginHistogram(np.linspace(-1.0, 1.0, 5), np.array([1.0, -2.0, 8.0, 3.0]), deviation=2.0, private=True)
    ax = plots.histogram(paid)
    assert ax.get_title() == "margins, paid for"
    (whiskers,) = ax.collections
    ends = np.array([path.vertices for path in whiskers.get_paths()])
    np.testing.assert_allclose(np.ptp(ends[:, :, 1], axis=1), 8.0)
    assert "not private" in plots.histogram(attrs.evolve(paid, private=False)).get_title()


def test_advantages_are_drawn_round_by_round(cancer: DataSplit, voting: LazyBoostClassifier) -> None:
    figure = plots.new_figure(5.0, 4.0)
    ax = plots.advantage_curve(voting, cancer.test, cancer.y_test, ax=figure.add_subplot())
    each, smooth = ax.get_lines()[:2]
    expected = advantages(voting, cancer.test, cancer.y_test)
    np.testing.assert_allclose(np.asarray(each.get_ydata()), expected)
    np.testing.assert_allclose(np.asarray(smooth.get_ydata())[0], expected[:25].mean())
    assert np.asarray(smooth.get_xdata())[0] == 25
    assert f"on the {cancer.y_test.size} records given" in ax.get_title()
    even = plots.advantage_curve(voting, cancer.test, cancer.y_test, booster=LazyBregman(1.0, 0.1))
    assert not np.allclose(np.asarray(even.get_lines()[0].get_ydata()), expected)


# --- without matplotlib ----------------------------------------------------------------------------------------


def test_without_matplotlib_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("matplotlib", "matplotlib.figure", "matplotlib.pyplot"):
        monkeypatch.setitem(sys.modules, name, None)
    for draw in (lambda: plots.curve(additive()), lambda: plots.curves(additive())):
        with pytest.raises(ImportError, match=r"pip install 'exchequer\[plots\]'"):
            draw()
