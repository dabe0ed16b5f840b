"""Reading a policy from TOML. A file with mistakes is refused with all of them, each with its remedy."""

import difflib
import math
import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Final

import attrs

from accountant.composition import (
    AdvancedComposition,
    BasicComposition,
    GDPComposition,
    NoBound,
    TextbookComposition,
    ZCDPComposition,
)
from accountant.costs import AddRemoveOne, ApproxDP, FeatureValue, FeatureValues, ReplaceOne
from accountant.entries import About
from accountant.explained import Explained
from accountant.policies.policy import DatasetLimits, Limit, Policy

POLICY: Final = "EXCHEQUER_POLICY"
"""The environment variable that names a policy file for every ledger that is opened."""

FORMAT: Final = "exchequer-policy-1"

ADJACENCIES: Final = tuple(each.name for each in (AddRemoveOne, ReplaceOne, FeatureValue, FeatureValues))
RULES: Final = (BasicComposition, AdvancedComposition, TextbookComposition, ZCDPComposition, GDPComposition, NoBound)
RULE_NAMES: Final = tuple(rule.name for rule in RULES)
SAYABLE: Final = tuple(field.name for field in attrs.fields(About))

_TABLES: Final[Mapping[str, tuple[str, ...]]] = {
    "open": ("users", "programs"),
    "promise": ("adjacency", "forbidden_adjacency", "forbidden_composition"),
    "about": ("required",),
    "noise": ("source",),
    "sub_budgets": ("required", "only"),
    "limits": ("release", "dataset", "year"),
    "datasets": (),
}


class PolicyMistakes(Explained, ValueError):
    """A policy file that cannot be followed. mistakes: all of them, each with the key that it is about."""

    def __init__(self, source: str, mistakes: Iterable[str]) -> None:
        self.source, self.mistakes = source, tuple(mistakes)
        listed = "".join(f"\n  - {each}" for each in self.mistakes)
        super().__init__(f"policy {source}: {len(self.mistakes)} mistake(s), nothing was opened:{listed}")

    def __reduce__(self) -> tuple[type["PolicyMistakes"], tuple[str, tuple[str, ...]]]:
        """As it was made, so that it survives the way back from a worker process."""
        return type(self), (self.source, self.mistakes)


def read_policy(path: str | Path) -> Policy:
    """The policy in a file. Raises PolicyMistakes with all that is wrong; OSError where it cannot be read."""
    raw = Path(path).read_bytes()
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError as error:
        raise PolicyMistakes(str(path), [f"it is no text in UTF-8: {error}"]) from None
    return policy_from_text(text, str(path))


def policy_from_text(text: str, source: str = "(text)") -> Policy:
    """The policy that a TOML text says. Raises PolicyMistakes with all that is wrong."""
    try:
        record = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise PolicyMistakes(source, [f"it is no TOML: {error}"]) from None
    reader = _Reader(record)
    policy = reader.policy(source)
    if reader.mistakes:
        raise PolicyMistakes(source, reader.mistakes)
    return policy


class _Reader:
    """Reads all of it, and notes every mistake on the way."""

    def __init__(self, record: dict[str, object]) -> None:
        self.mistakes: list[str] = []
        self._record = record

    def policy(self, source: str) -> Policy:
        record = self._record
        self._known(record, ("policy", *_TABLES), "")
        if (form := record.get("policy")) != FORMAT:
            self.mistakes.append(f'policy: expected policy = "{FORMAT}" in the first line, got {form!r:.60}')
        tables = {name: self._table(record, name, name) for name in _TABLES}
        for name, keys in _TABLES.items():
            if keys:
                self._known(tables[name], keys, name)
        opened, promise, limits = tables["open"], tables["promise"], tables["limits"]
        policy = Policy(
            source,
            users=self._texts(opened, "open.users"),
            programs=self._texts(opened, "open.programs"),
            adjacency=self._texts(promise, "promise.adjacency", ADJACENCIES),
            forbidden_adjacency=self._texts(promise, "promise.forbidden_adjacency", ADJACENCIES),
            forbidden_composition=self._texts(promise, "promise.forbidden_composition"),
            about=self._texts(tables["about"], "about.required", SAYABLE),
            secure_noise=self._secure(tables["noise"]),
            sub_budgets=self._texts(tables["sub_budgets"], "sub_budgets.required"),
            sub_budgets_only=self._flag(tables["sub_budgets"], "sub_budgets.only"),
            release=self._limit(limits, "limits.release"),
            each=DatasetLimits(self._limit(limits, "limits.dataset"), self._limit(limits, "limits.year")),
            named=self._named(tables["datasets"]),
        )
        self._contradictions(policy)
        return policy

    def _contradictions(self, policy: Policy) -> None:
        for name in sorted({*policy.adjacency} & {*policy.forbidden_adjacency}):
            self.mistakes.append(
                f"promise.forbidden_adjacency: {name!r} is in promise.adjacency as well; leave one out"
            )
        for name in policy.forbidden_composition:
            if name in RULE_NAMES:
                continue
            near = difflib.get_close_matches(name, RULE_NAMES, 1, 0.75)
            if near:  # else it may be a rule of somebody's own package
                self.mistakes.append(f"promise.forbidden_composition: {name!r} is no rule; did you mean {near[0]!r}?")

    def _known(self, table: Mapping[str, object], keys: Iterable[str], where: str) -> None:
        known = list(keys)
        for key in table:
            if key not in known:
                near = difflib.get_close_matches(key, known, 1, 0.5)
                hint = f"did you mean {near[0]!r}?" if near else f"there are: {', '.join(known)}"
                self.mistakes.append(f"{f'{where}.' if where else ''}{key}: unknown key; {hint}")

    def _table(self, record: Mapping[str, object], key: str, where: str) -> dict[str, object]:
        found = record.get(key, {})
        if isinstance(found, dict):
            return found
        self.mistakes.append(f"{where}: expected a table, as [{where}], got {found!r:.60}")
        return {}

    def _texts(self, table: Mapping[str, object], where: str, allowed: tuple[str, ...] = ()) -> tuple[str, ...]:
        key = where.rpartition(".")[2]
        if key not in table:
            return ()
        found = table[key]
        if not isinstance(found, list) or not found or not all(isinstance(each, str) and each for each in found):
            self.mistakes.append(f'{where}: expected a list of texts, as ["..."], got {found!r:.60}; or leave it out')
            return ()
        for each in found:
            if allowed and each not in allowed:
                near = difflib.get_close_matches(each, allowed, 1, 0.5)
                hint = f"did you mean {near[0]!r}?" if near else f"there are: {', '.join(allowed)}"
                self.mistakes.append(f"{where}: {each!r:.60} is unknown; {hint}")
        return tuple(found)

    def _flag(self, table: Mapping[str, object], where: str) -> bool:
        found = table.get(where.rpartition(".")[2], False)
        if not isinstance(found, bool):
            self.mistakes.append(f"{where}: expected true or false, got {found!r:.60}")
        return found is True

    def _secure(self, table: Mapping[str, object]) -> bool:
        found = table.get("source", "any")
        if found not in ("secure", "any"):
            self.mistakes.append(f'noise.source: expected "secure" or "any", got {found!r:.60}')
        return found == "secure"

    def _limit(self, table: Mapping[str, object], where: str) -> Limit | None:
        key = where.rpartition(".")[2]
        if key not in table:
            return None
        record = self._table(table, key, where)
        if not isinstance(table[key], dict):
            return None
        self._known(record, ("epsilon", "delta"), where)
        epsilon = self._number(record, f"{where}.epsilon", math.inf)
        delta = self._number(record, f"{where}.delta", 1.0)
        if epsilon is None or delta is None:
            return None
        return Limit(where, ApproxDP(epsilon, delta))

    def _number(self, record: Mapping[str, object], where: str, below: float) -> float | None:
        key = where.rpartition(".")[2]
        if key not in record:
            remedy = "give it; 0 allows no failure, which only pure costs keep" if key == "delta" else "give it"
            self.mistakes.append(f"{where}: it is missing; {remedy}")
            return None
        found = record[key]
        if isinstance(found, bool) or not isinstance(found, int | float) or not 0 <= found < below:
            self.mistakes.append(f"{where}: expected a number from 0 to below {below:g}, got {found!r:.60}")
            return None
        try:
            return float(found)
        except OverflowError:
            self.mistakes.append(f"{where}: it is beyond any float")
            return None

    def _named(self, table: Mapping[str, object]) -> dict[str, DatasetLimits]:
        found = {}
        for name in table:
            where = f"datasets.{name}"
            limits = self._table(table, name, where)
            self._known(limits, ("total", "year"), where)
            if isinstance(table[name], dict) and not limits:
                self.mistakes.append(f"{where}: it sets no limit; give [{where}.total] or [{where}.year]")
            try:
                About(dataset=name)
            except ValueError as error:
                self.mistakes.append(f"{where}: no data set can be called that: {error}")
            found[name] = DatasetLimits(self._limit(limits, f"{where}.total"), self._limit(limits, f"{where}.year"))
        return found
