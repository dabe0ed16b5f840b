"""Types of options that hold more than a number or a word. Nothing heavy is imported here: `--help` reads it."""

import tomllib
from typing import TYPE_CHECKING, Final

import click

if TYPE_CHECKING:
    ParamType = click.ParamType[object]
else:
    ParamType = click.ParamType  # of click 8.2, which has no types for it


class _Pairs(ParamType):
    """auto, none or a:b,c:d: pairs of columns."""

    name = "auto|none|A:B,..."

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> object:
        if not isinstance(value, str) or value == "auto":
            return value
        if value == "none":
            return ()
        pairs = tuple(tuple(part.strip() for part in pair.split(":")) for pair in value.split(","))
        if any(len(pair) != 2 or not all(pair) for pair in pairs):
            self.fail(f"{value!r} is neither auto nor none nor pairs of columns such as age:sex,age:income", param, ctx)
        return pairs


class _Direction(ParamType):
    """COLUMN=+1 or COLUMN=-1."""

    name = "COLUMN=+1|-1"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> object:
        if not isinstance(value, str):
            return value
        column, _, direction = value.rpartition("=")
        if not column or direction not in ("+1", "1", "-1"):
            self.fail(f"{value!r}: expected COLUMN=+1 (rises) or COLUMN=-1 (falls)", param, ctx)
        return column, int(direction)


class _Lines(ParamType):
    """all, or a whole number from 2."""

    name = "NUMBER|all"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> object:
        if not isinstance(value, str) or value == "all":
            return value
        if not value.isdecimal() or int(value) < 2:
            self.fail(f"{value!r} is neither all nor a whole number from 2", param, ctx)
        return int(value)


class _Parameter(ParamType):
    """NAME=VALUE, where VALUE is written as in TOML; text needs no quotes."""

    name = "NAME=VALUE"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> object:
        if not isinstance(value, str):
            return value
        name, equals, text = value.partition("=")
        if not equals or not name.strip():
            self.fail(f"{value!r}: expected NAME=VALUE", param, ctx)
        return name.strip().replace("-", "_"), _plain(text.strip())


def _plain(text: str) -> object:
    try:
        return tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        return text


PAIRS: Final = _Pairs()
DIRECTION: Final = _Direction()
LINES: Final = _Lines()
PARAMETER: Final = _Parameter()
