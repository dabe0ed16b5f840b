"""Registries of claims for tests of the command line, whatever is installed where they run."""

from importlib import metadata

import pytest

from exchequer.commands.auditing.installed_claims import GROUP


@pytest.fixture(autouse=True)
def registries(monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """The entry points of `exchequer.claims` that are found: our own, and what a test puts in here."""
    found = {"exchequer": "proofs_tests.claims:known"}
    usual = metadata.entry_points

    def entry_points(*, group: str) -> object:
        if group != GROUP:
            return usual(group=group)
        return [metadata.EntryPoint(name, value, group) for name, value in found.items()]

    monkeypatch.setattr(metadata, "entry_points", entry_points)
    return found


def nothing() -> dict[str, object]:
    """A registry without claims."""
    return {}


def mistaken() -> dict[str, object]:
    """A registry that lists a claim under another's name."""
    from proofs_tests.claims import known

    return {"zcdp-filter": known()["basic"]}
