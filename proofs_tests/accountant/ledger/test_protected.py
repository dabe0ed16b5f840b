"""Protected data: no way to read it but `Ledger.release`."""

import copy
import pickle
from collections.abc import Callable

import numpy as np
import pytest

from accountant import BasicComposition, Ledger, Protected, PureDP, ReplaceOne, Sealed
from proofs_tests.support.ledgers.doubles import RandomizedResponse

SECRET = "diagnosis: positive"

READERS: dict[str, Callable[[Protected[str]], object]] = {
    "iterate": lambda data: list(data),  # type: ignore[call-overload]  # mypy refuses it too
    "length": lambda data: len(data),  # type: ignore[arg-type]  # mypy refuses it too
    "index": lambda data: data[0],  # type: ignore[index]  # mypy refuses it too
    "truth": lambda data: bool(data),
    "equal": lambda data: data == data,
    "contains": lambda data: "p" in data,  # type: ignore[operator]  # mypy refuses it too
    "copy": copy.copy,
    "deepcopy": copy.deepcopy,
    "pickle": pickle.dumps,
    "array": lambda data: np.asarray(data),
}


def ledger() -> Ledger:
    return Ledger(PureDP(1.0), composition=BasicComposition(), adjacency=ReplaceOne())


@pytest.mark.parametrize("name", READERS)
def test_reading_is_refused(name: str) -> None:
    with pytest.raises(Sealed):
        READERS[name](ledger().protect(SECRET))


def test_text_forms_show_nothing() -> None:
    data = ledger().protect(SECRET)
    for text in (repr(data), str(data), f"{data}", repr([data])):
        assert SECRET not in text


def test_mapped_data_stays_sealed_and_with_its_ledger() -> None:
    own, other = ledger(), ledger()
    flipped = own.protect(True).map(lambda bit: not bit)
    assert own.release(RandomizedResponse(0.9, seed=0), flipped) in (True, False)
    with pytest.raises(Sealed, match="another ledger"):
        other.release(RandomizedResponse(0.1), flipped)
    with pytest.raises(TypeError, match="protected already"):
        own.protect(flipped)
