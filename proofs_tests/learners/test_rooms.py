"""Rooms of `learners` that are imported at need: all of them are known, and every public name is found in one."""

from pathlib import Path

import pytest

import learners


def test_every_room_is_one_that_names_are_looked_for_in() -> None:
    home = Path(str(learners.__file__)).parent
    assert sorted(learners.ROOMS) == sorted(path.parent.name for path in home.glob("*/__init__.py"))


def test_what_the_package_shows_is_what_the_rooms_have() -> None:
    assert set(learners.__all__) <= set(dir(learners))
    for name in learners.__all__:
        assert getattr(learners, name).__name__ == name
    with pytest.raises(AttributeError, match="no attribute 'Nothing'"):
        learners.Nothing  # type: ignore[attr-defined]  # noqa: B018  # the point of it
