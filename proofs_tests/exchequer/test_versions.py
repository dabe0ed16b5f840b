"""`exchequer --version`, for people and for programs."""

import json
import platform

from click.testing import CliRunner

from exchequer.cli import main, version


def said(*words: str) -> str:
    result = CliRunner().invoke(main, list(words))
    assert result.exit_code == 0, result.output
    return result.stdout


def test_people_read_one_line() -> None:
    assert said("--version") == f"exchequer, version {version()}\n"


def test_programs_get_all_versions_in_either_order() -> None:
    found = json.loads(said("--version", "--json"))
    assert found == json.loads(said("--json", "--version"))
    assert found["exchequer"] == version()
    assert found["python"] == platform.python_version()
    assert {"numpy", "scipy", "scikit-learn", "opendp"} <= set(found["packages"])
