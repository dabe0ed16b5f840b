"""Files that the command line wrote, `train` and `rados`: read, and written again with the same seed."""

from pathlib import Path

import pytest

from proofs_tests.old_files import readouts, write
from proofs_tests.old_files.frozen import assert_same, kept, kept_json, newest, newest_json, without_later


@pytest.fixture(autouse=True)
def _people(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The table and its schema, in an empty folder that is the current one."""
    monkeypatch.chdir(tmp_path)
    write.people_files()


@pytest.mark.parametrize("learner", write.LEARNERS)
def test_train_prints_and_writes_what_it_did(learner: str) -> None:
    told, content = write.train(learner)
    assert_same(told, newest_json("trained.said")[learner], 1e-9, digests=False)
    tolerance, least = (1e-3, 1.0) if learner == "bagging" else (1e-9, 0.0)  # sums of single precision
    written = without_later(content.decode())
    assert_same(
        written, without_later(newest(f"trained/{learner}.json").decode()), tolerance, digests=False, least=least
    )


@pytest.mark.parametrize("learner", [*write.LEARNERS, "rados"])
def test_what_it_wrote_loads_and_is_saved_as_it_was(learner: str) -> None:
    Path("model.json").write_bytes(kept(f"trained/{learner}.json"))
    readouts.loaded(Path("model.json")).save("again.json")
    assert Path("again.json").read_bytes() == kept(f"trained/{learner}.json")


def test_rados_are_released_and_learnt_from_as_they_were() -> None:
    assert_same(write.released_rados(), kept_json("trained.said")["rados"], 1e-9, digests=False)
    released = Path("rados.json").read_text(encoding="utf-8")
    assert_same(released, kept("trained/rados.json").decode(), 1e-9, digests=False)


def test_old_rados_are_learnt_from_as_they_were() -> None:
    Path("rados.json").write_bytes(kept("trained/rados.json"))
    told = kept_json("trained.said")["rados"]
    assert_same(write.learnt_from_rados(), {name: told[name] for name in ("fit", "model", "predict")}, 1e-9)
