"""`exchequer --version`, and with `--json` all that a report of a bug should say."""

import json
import platform
from collections.abc import Callable
from importlib import metadata
from typing import Final, TypeVar

import click

F = TypeVar("F", bound=Callable[..., object])

PACKAGES: Final = ("numpy", "scipy", "scikit-learn", "opendp", "attrs", "click", "rich", "sqlalchemy", "jinja2")
"""Those that every installation has."""

FURTHER: Final = ("numba", "dp-accounting", "cryptography", "psycopg", "pyarrow", "dask", "hypothesis", "matplotlib")
"""Of extras: named where they are installed."""

_JSON: Final = "exchequer.version.json"


def version_options(own: str) -> Callable[[F], F]:
    """The options `--version` and `--json` of the whole program."""

    def remember(ctx: click.Context, _: click.Parameter, asked: bool) -> None:
        ctx.meta[_JSON] = asked

    def show(ctx: click.Context, _: click.Parameter, asked: bool) -> None:
        if asked and not ctx.resilient_parsing:
            click.echo(json.dumps(versions(own)) if ctx.meta.get(_JSON) else f"exchequer, version {own}")
            ctx.exit()

    as_json = click.option(
        "--json", is_flag=True, is_eager=True, expose_value=False, callback=remember, help="With --version: as JSON."
    )
    shown = click.option(
        "--version", is_flag=True, expose_value=False, callback=show, help="Show the version and exit."
    )
    return lambda command: shown(as_json(command))


def versions(own: str) -> dict[str, object]:
    """Of this library, of Python, of the system, and of the packages in use."""
    return {
        "exchequer": own,
        "python": platform.python_version(),
        "system": platform.platform(),
        "packages": {name: found for name in (*PACKAGES, *FURTHER) if (found := _installed(name)) is not None},
    }


def _installed(name: str) -> str | None:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None
