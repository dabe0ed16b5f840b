"""Code of a repository is taken at its commit, built as its adapter says, and imported in its environment only."""

import subprocess
import venv
from collections.abc import Callable
from pathlib import Path

import attrs
import pytest

from benchmarks.leaderboard.adapters import PATH_FILE, BadAdapter, Source, installed, read
from benchmarks.runner import Missing
from proofs_tests.benchmarks.leaderboard.test_adapters import GOOD, written


def git(place: Path, *words: str) -> str:
    """What git says in a folder."""
    who = ["-c", "user.name=nobody", "-c", "user.email=nobody@example.org"]
    return subprocess.run(["git", *who, *words], cwd=place, check=True, capture_output=True, text=True).stdout.strip()


@pytest.fixture(name="repository")
def fixture_repository(tmp_path: Path) -> Path:
    """Of a module that says 1 in its first commit and 2 in its second, in a folder beside another."""
    place = tmp_path / "repository"
    (place / "code").mkdir(parents=True)
    (place / "large").mkdir()
    git(place, "init", "--quiet")
    for said in ("1", "2"):
        (place / "code" / "learner.py").write_text(f"SAYS = {said}\n", encoding="utf-8")
        (place / "large" / "data.csv").write_text(said, encoding="utf-8")
        git(place, "add", ".")
        git(place, "commit", "--quiet", "--message", said)
    return place


@pytest.fixture(name="python")
def fixture_python(tmp_path: Path) -> Path:
    """Of an empty environment."""
    venv.create(tmp_path / "environment", with_pip=False)
    return tmp_path / "environment" / "bin" / "python"


def says(python: Path, code: str) -> str:
    """What an interpreter prints."""
    return subprocess.run([str(python), "-c", code], check=True, capture_output=True, text=True).stdout.strip()


BUILT = ("python", "-c", "import pathlib, sys; pathlib.Path('code/built.py').write_text(f'BY = {sys.prefix!r}')")


def test_it_is_the_commit_that_is_named_and_built_by_its_own_interpreter(repository: Path, python: Path) -> None:
    first = git(repository, "rev-parse", "HEAD~1")
    installed(Source(str(repository), first, ("code",), "code", (BUILT,)), python)
    assert says(python, "import learner; print(learner.SAYS)") == "1"
    assert says(python, "import built; print(built.BY)") == str(python.parent.parent)
    assert not (python.parent.parent / "source" / "large").exists()
    installed(Source(str(repository / "gone"), first), python)  # it is there: nobody is asked again


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda good: attrs.evolve(good, repository="gone"), "git clone .* failed"),
        (lambda good: attrs.evolve(good, commit="0" * 40), "git checkout .* failed"),
        (lambda good: attrs.evolve(good, paths=("nowhere",)), "git checkout .* failed"),
        (
            lambda good: attrs.evolve(good, build=(("python", "-c", "raise SystemExit('no compiler')"),)),
            r"failed \(no compiler\)",
        ),
        (lambda good: attrs.evolve(good, build=(("no-such-program-here",),)), "no-such-program-here failed"),
    ],
)
def test_what_cannot_be_had_is_said_and_tried_again(
    repository: Path, python: Path, change: Callable[[Source], Source], said: str
) -> None:
    good = Source(str(repository), git(repository, "rev-parse", "HEAD"), imports="code")
    with pytest.raises(Missing, match=said) as caught:
        installed(change(good), python)
    assert "Run this again where" in str(caught.value)
    assert not list(python.parent.parent.glob(f"**/{PATH_FILE}"))
    installed(good, python)
    assert says(python, "import learner; print(learner.SAYS)") == "2"


SOURCE = """# [tool.leaderboard.source]
# repository = "https://example.org/somebody/learner"
# commit = "0123456789012345678901234567890123456789"
# paths = ["code"]
# imports = "code"
# build = [["make"]]
#
# [tool.leaderboard.variants.slow]"""


def test_an_adapter_names_its_source(tmp_path: Path) -> None:
    adapter = read(written(tmp_path, GOOD.replace("# [tool.leaderboard.variants.slow]", SOURCE)))
    commit = "0123456789" * 4
    assert adapter.source == Source("https://example.org/somebody/learner", commit, ("code",), "code", (("make",),))


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('"https://example.org/somebody/learner"', "1", "repository = 1: expected an address"),
        ("0123456789012345678901234567890123456789", "main", "commit = 'main': expected 40 hexadecimal digits"),
        ('paths = ["code"]', 'paths = "code"', "paths = 'code': expected a list"),
        ('imports = "code"', "imports = 1", "imports = 1: expected a folder"),
        ('[["make"]]', '["make"]', "expected a list of commands"),
        ("# build", "# builds", "unknown: builds"),
        ("numpy==2.4.6", "exchequer", "an environment without exchequer"),
    ],
)
def test_a_source_that_makes_no_sense_is_refused(tmp_path: Path, old: str, new: str, said: str) -> None:
    text = GOOD.replace("# [tool.leaderboard.variants.slow]", SOURCE)
    assert old in text
    path = written(tmp_path, text.replace(old, new))
    with pytest.raises(BadAdapter, match=said) as caught:
        read(path)
    assert str(path) in str(caught.value)
