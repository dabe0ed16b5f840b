"""`exchequer card`: a page about a saved model, as Markdown and as HTML; and what notebooks show."""

from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner, Result

from exchequer.cli import main
from exchequer.commands.card import LIMITS, training_accuracy
from learners import Numeric, PrivateBoostClassifier, PrivateBoostRegressor, Schema, scorecard
from learners.tables import Label, NumberLabel
from proofs_tests.support.learners.histograms import HistogramClassifier

N = 3000
SCHEMA = Schema((Numeric("age", 0.0, 100.0), Numeric("a<b & c", 0.0, 1.0, missing="own")), Label("y", ("no", "<yes>")))


def run(*arguments: str) -> Result:
    return CliRunner().invoke(main, ["card", *arguments], env={"COLUMNS": "100"})


class Tags(HTMLParser):
    """Which tags are opened, that all are closed, and the text."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.opened, self.text, self._inside = list[str](), list[str](), list[str]()
        self.feed(page)
        assert self._inside == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.opened.append(tag)
        if tag not in ("meta", "br"):
            self._inside.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self._inside.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text.append(data)


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a calibrated model, a regression with intervals and one that nobody reads."""
    folder, rng = tmp_path_factory.mktemp("models"), np.random.default_rng(0)
    table = {"age": rng.uniform(0.0, 100.0, N), "a<b & c": rng.uniform(0.0, 1.0, N)}
    y = np.where(table["age"] > 50.0, "<yes>", "no")
    PrivateBoostClassifier(2.0, 1e-6, calibration=0.1, schema=SCHEMA, random_state=0).fit(table, y).save(
        folder / "classes.json"
    )
    numbers = Schema(SCHEMA.columns, None, NumberLabel("cost", 0.0, 100.0))
    PrivateBoostRegressor(2.0, 1e-6, label_bounds=(0.0, 100.0), intervals=0.1, schema=numbers, random_state=0).fit(
        table, table["age"]
    ).save(folder / "numbers.json")
    HistogramClassifier(1.0, schema=SCHEMA, random_state=0).fit(table, y).save(folder / "other.json")
    return folder


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("classes", "of the training records are classified as labelled"),
        ("numbers", "nine of ten training labels lie within"),
        ("other", "Nothing was paid for"),
    ],
)
def test_a_card_has_data_schema_guarantee_accuracy_and_limits(
    saved: Path, tmp_path: Path, name: str, said: str
) -> None:
    order = (str(saved / f"{name}.json"), "--data", "people of <1994>", "--measured", "90 % right")
    for ending in ("md", "html"):
        result = run(*order, "--out", str(tmp_path / f"card.{ending}"))
        assert result.exit_code == 0, result.output
    text, page = ((tmp_path / f"card.{ending}").read_text(encoding="utf-8") for ending in ("md", "html"))
    tags = Tags(page)
    shown = " ".join("".join(tags.text).split())
    assert "script" not in tags.opened
    for part in ("people of <1994>", "a<b & c", "differentially private under", "90 % right", said, *LIMITS):
        assert part in shown
    for heading in ("Data", "Schema", "Accuracy", "Limits"):
        assert f"## {heading}\n" in text
        assert heading in tags.text
    assert "people of \\<1994\\>" in text


def test_the_accuracy_that_was_paid_for_is_that_of_the_training_records(saved: Path) -> None:
    model = PrivateBoostClassifier.load(saved / "classes.json")
    assert model.model_.calibration is not None
    right, unsure = training_accuracy(model.model_.calibration)
    rng = np.random.default_rng(0)
    table = {"age": rng.uniform(0.0, 100.0, N), "a<b & c": rng.uniform(0.0, 1.0, N)}
    truth = np.mean(model.predict(table) == np.where(table["age"] > 50.0, "<yes>", "no"))
    assert 0.0 < unsure < 0.1
    assert abs(right - truth) < unsure + 0.03


def test_what_cannot_be_written_is_refused(saved: Path, tmp_path: Path) -> None:
    model = str(saved / "classes.json")
    assert "ends neither in .md nor in .html" in run(model, "--out", str(tmp_path / "card.pdf")).stderr
    (tmp_path / "card.md").write_text("mine", encoding="utf-8")
    assert "exists already" in run(model, "--out", str(tmp_path / "card.md")).stderr
    (tmp_path / "other.json").write_text("[]", encoding="utf-8")
    assert "not an exchequer model" in run(str(tmp_path / "other.json"), "--out", str(tmp_path / "new.md")).stderr
    assert not (tmp_path / "new.md").exists()


def test_notebooks_show_statements_cards_and_estimators(saved: Path) -> None:
    model = PrivateBoostClassifier.load(saved / "classes.json")
    table = Tags(model.statement_._repr_html_())
    assert table.opened[0] == "table"
    assert model.statement_.head in table.text
    card = Tags(scorecard(model, lines=None)._repr_html_())
    assert "a<b & c" in card.text
    shown = model._repr_mimebundle_()
    assert "PrivateBoostClassifier" in shown["text/html"], "scikit-learn's own goes on"
