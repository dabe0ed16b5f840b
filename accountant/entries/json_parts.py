"""Parts of a line's JSON, read: each says what it expected, and nothing is taken for what it is not."""

from collections.abc import Mapping
from typing import cast

from accountant.composition import Amount, Step, amount_from_record
from accountant.costs import ApproxDP, cost_from_dict
from accountant.entries.entry_kinds import whole


def priced_of(record: Mapping[str, object]) -> tuple[ApproxDP, str]:
    price = cost_from_dict(flat_of(record["cost"]))
    if not isinstance(price, ApproxDP):
        raise TypeError(f"a plan is priced in (ε, δ), not in {price!r}")
    return price, text_of(record["route"])


def step_of(record: Mapping[str, object]) -> Step:
    return Step(cost_from_dict(flat_of(record["cost"])), whole(record["rounds"]))


def some_of(value: object) -> int:
    if not (rounds := whole(value)):
        raise ValueError("expected at least one round, got 0")
    return rounds


def text_of(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError(f"expected a text, got {value!r}")
    return value


def object_of(value: object) -> Mapping[str, object]:
    if not isinstance(value, dict):
        raise TypeError(f"expected an object, got {value!r}")
    return value


def flat_of(value: object) -> Mapping[str, float | str]:
    return cast("Mapping[str, float | str]", object_of(value))  # each number is checked where it is used


def objects_of(value: object) -> list[Mapping[str, object]]:
    if not isinstance(value, list):
        raise TypeError(f"expected a list, got {value!r}")
    return [object_of(part) for part in value]


def amount_of(value: object) -> Amount:
    return amount_from_record({name: text_of(part) for name, part in object_of(value).items()})
