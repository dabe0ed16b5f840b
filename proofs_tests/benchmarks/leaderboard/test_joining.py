"""One command puts somebody's adapter on the tables, as the page says; what makes no sense is told in a line."""

import os
import re
from pathlib import Path

import pytest

from benchmarks.leaderboard.__main__ import main
from benchmarks.runner import ROOT

PAGE = ROOT / "docs" / "how-to" / "leaderboard.md"


def adapter_of_the_page(folder: Path) -> Path:
    """The one that the page shows, to be run by this interpreter, as no environment is made here."""
    found = re.search(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    assert found is not None
    path = folder / "my_adapter.py"
    path.write_text(found[1].replace('"numpy==2.4.6"', '"exchequer"'), encoding="utf-8")
    return path


@pytest.mark.data
def test_the_adapter_of_the_page_joins(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    if not os.environ.get("EXCHEQUER_DATA"):
        pytest.skip("needs real data: set EXCHEQUER_DATA to the folder with it")
    words = [str(adapter_of_the_page(tmp_path)), "constant", "--tables", "haberman", "transfusion", "--epsilons", "1"]
    options = ["--seeds", "2", "--jobs", "2", "--out", str(tmp_path / "out")]
    main([*words, *options])
    printed = capsys.readouterr()
    assert printed.err.splitlines().count("measured: haberman: noisy class counts") == 1
    assert "| noisy class counts | 0.500 ± 0.000 |" in printed.out
    assert "## PrivateBoost: first, or within one paired standard error of the first" in printed.out
    assert "## PrivateBoost's lead over the strongest of other people's systems" in printed.out
    assert "## Place of noisy class counts among the private systems that are ranked or named" in printed.out
    main([*words, *options])
    again = capsys.readouterr()
    assert "measured" not in again.err
    assert again.out == printed.out


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--tables", "nothing"], "no table nothing: there are adult"),
        (["nobody"], "'nobody' is neither a file of an adapter nor one of"),
        (["constant", "--tables", "haberman", "--data", "/nowhere"], "haberman"),
        (["constant", "--epsilons", "inf"], "2"),
        (["constant", "--width", "0.5"], "2"),
        (["constant", "--seeds", "0"], "2"),
    ],
)
def test_words_that_name_nothing_are_told(words: list[str], said: str, tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match=said):
        main([*words, "--out", str(tmp_path)])


@pytest.mark.data
def test_what_nobody_published_is_said_and_what_fails_ends_with_1(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """No share of firsts where ours was not measured; a regression is not asked of what takes none."""
    if not os.environ.get("EXCHEQUER_DATA"):
        pytest.skip("needs real data: set EXCHEQUER_DATA to the folder with it")
    path = adapter_of_the_page(tmp_path)
    words = [str(path), "--tables", "haberman", "medical-charges", "--epsilons", "1", "--seeds", "2", "--width", "3"]
    main([*words, "--out", str(tmp_path / "out")])
    printed = capsys.readouterr()
    (note,) = [line for line in printed.out.splitlines() if line.startswith("Not shown, for want of scores: ")]
    assert "PrivateBoost; " in note
    assert "noisy class counts is not asked for medical-charges, which is regression" in printed.out
    assert "first, or within one paired standard error" not in printed.out
    path.write_text(
        path.read_text(encoding="utf-8").replace("    rng =", "    raise ValueError('not today')\n    rng =")
    )
    with pytest.raises(
        SystemExit, match=r"noisy class counts on haberman, ε=1: my_adapter.py, line \d+: ValueError: not today"
    ) as first:
        main([*words, "--out", str(tmp_path / "out")])
    said = capsys.readouterr()
    assert "Traceback" in said.err
    assert "## Place of" not in said.out
    with pytest.raises(SystemExit) as second:
        main([*words, "--out", str(tmp_path / "out")])
    assert second.value.code == first.value.code  # what failed in an earlier run has not succeeded since
    assert "Traceback" not in capsys.readouterr().err
