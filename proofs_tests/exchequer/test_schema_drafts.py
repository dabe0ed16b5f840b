"""What a draft of a schema takes from the records is named, and what it writes can be read again."""

from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from exchequer.cli import main


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def draft(*arguments: str) -> Result:
    return CliRunner().invoke(main, ("schema", "draft", *arguments), env={"COLUMNS": "400"})


# --- guesses are named --------------------------------------------------------------------------------------------


def test_how_dates_are_written_is_named_where_it_was_guessed() -> None:
    Path("visits.csv").write_text("day,left,ward\n" + "01.02.2024,31/01/2024,a\n" * 20)
    Path("codebook.csv").write_text("name,type\nday,date\n")
    for found in (draft("visits.csv", "--dictionary", "codebook.csv"),):
        assert 'form = "%d.%m.%Y"' in found.stdout
        for said in (found.stderr, " ".join(found.stdout.replace("\n#  ", "").split())):
            assert "left date as %d/%m/%Y, ward text" in said
            assert "how dates are written, as most of the first records have them: day as %d.%m.%Y" in said
