"""How entries are written, what costs come to and what sums mean: grammar and formulas of LEDGER.md, "The format".

A loss and a δ are whole numbers of 2^-1074, exact; an amount is one number of both, loss·2^4096 + δ.
What is computed in floating point is rounded up.
"""

import json
import math
import sqlite3
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

# fmt: off
UNIT, DELTA = 1 << 1074, 1 << 4096
ONE_EPSILON, SAMPLED = ("pure-dp", "laplace-dp", "bounded-range"), "subsampled-gaussian"
COSTS = {"pure-dp": "epsilon", "laplace-dp": "epsilon", "bounded-range": "epsilon", "approx-dp": "epsilon delta",
         "zcdp": "rho", "gdp": "mu", SAMPLED: "mu sampling_rate", "unbounded": ""}
KEEPS = {"basic": "pure-dp approx-dp", "zcdp": "zcdp approx-dp", "gdp": "gdp approx-dp", "no-bound": "unbounded",
         "advanced": "approx-dp", "advanced-tight": "approx-dp"}
RELATIONS = {"replace-one": "", "add-remove-one": "", "feature-value": "column", "feature-values": "columns"}
SAID = {"dataset", "dataset_digest", "host", "program", "purpose", "user"}
ROUTES = ("basic", "kov", "zcdp", "renyi", "gdp", "laplace", "pld", "bounded-range")
DESCRIBED = "claims mechanism noise norm parameters private query sensitivity zeta"


class Wrong(Exception):
    """What must not be in a ledger."""


def need(holds: object, otherwise: str) -> None:
    if not holds:
        raise Wrong(otherwise)


def of(value: float) -> int:
    return value.as_integer_ratio()[0] * (UNIT // value.as_integer_ratio()[1])


def up(value: float) -> float:
    return math.nextafter(value + abs(value) * 2.0**-40, math.inf)


def float_up(units: int) -> float:
    return units / UNIT if of(units / UNIT) >= units else math.nextafter(units / UNIT, math.inf)


def text(units: int) -> str:
    zeros = (units & -units).bit_length() - 1
    return f"{units >> zeros:x}p{zeros - 1074}" if units else "0p0"


def rho(kind: str, a: float, b: float) -> float:
    """The ρ of a cost."""
    rest, u = 1.0, a / -math.expm1(-a) if a else 1.0
    if kind == "zcdp" or a == 0.0 or (kind == SAMPLED and b == 0.0):
        return a if kind == "zcdp" else 0.0
    if kind in ("gdp", SAMPLED):
        return up(0.5 * a * a)
    if kind in ("pure-dp", "approx-dp"):
        return up(a * math.tanh(0.5 * a))
    if kind == "bounded-range":
        return up(a * a / 8.0 if a < 2.0**-7 else u - 1.0 - math.log1p(u - 1.0))
    for place in range(16, 2, -1):
        rest = 1.0 - a / place * rest
    return up(a + math.expm1(-a) if a >= 1.0 else 0.5 * a * a * rest)


def amount(rule: str, kind: str, a: float, b: float) -> int:
    """What one release of a cost adds to the total."""
    nothing, delta = kind == SAMPLED and not (a and b), of(b) if kind == "approx-dp" else 0
    gaussian = kind in ("gdp", SAMPLED) or (kind in (*ONE_EPSILON, "zcdp") and a == 0.0)
    takes = {
        "basic": kind in (*ONE_EPSILON, "approx-dp") or nothing,
        "gdp": gaussian and a <= 2.0**500,
        "zcdp": kind != "unbounded" and not delta,
        "no-bound": True,
    }
    need(takes.get(rule, kind != "unbounded"), f"the rule {rule} takes no such {kind}")
    if rule == "no-bound":
        return UNIT * DELTA
    if rule == "basic":
        return (0 if nothing else of(a)) * DELTA + delta
    if rule == "gdp":
        return (0 if kind == SAMPLED and not b else -(-(of(a) ** 2) // UNIT)) * DELTA
    if rule == "advanced" and kind in ("pure-dp", "approx-dp"):
        return of(up(a * a)) * DELTA + delta
    return of(rho(kind, a, b)) * (2 if rule == "advanced" else 1) * DELTA + delta


def zcdp_epsilon(total: float, delta: float) -> float:
    """The least ε of ρ-zCDP over all orders 1 + e^s, by golden section; rounded up."""

    def at(s: float) -> float:
        order, excess = 1.0 + math.exp(s), math.exp(s)
        return total * order + math.log(excess / order) - (math.log(delta) + math.log(order)) / excess

    low, high, golden = -12.0, 40.0, (math.sqrt(5.0) - 1.0) / 2.0
    for _ in range(60):
        x, y = high - golden * (high - low), low + golden * (high - low)
        low, high = (low, y) if at(x) <= at(y) else (x, high)
    simple = up(total + 2.0 * math.sqrt(total * -math.log(delta)))
    return min(simple, max(0.0, up(at(low) + 1e-12 * total)) + 2.0**-46) if total else 0.0


def search(beyond: Callable[[float], bool]) -> float:
    """The place where this turns from false to true, to 13 digits, from above."""
    low, high = 0.0, 1.0
    while not beyond(high):
        low, high = high, 2.0 * high
    while high - low > 1e-13 * high and high > 1e-300:
        low, high = (low, 0.5 * (low + high)) if beyond(0.5 * (low + high)) else (0.5 * (low + high), high)
    return high


def gaussian_epsilon(mu: float, delta: float) -> float:
    """The least ε with Φ(μ/2 − ε/μ) − e^ε Φ(−μ/2 − ε/μ) <= δ, rounded up."""

    def fits(e: float) -> bool:
        first, second = (math.erfc((e / mu + sign * 0.5 * mu) / math.sqrt(2.0)) for sign in (-1.0, 1.0))
        difference = first - (math.exp(e + math.log(second)) if second else 0.0)
        return 0.5 * difference * (1.0 + 4e-13 * (1.0 + 1.0 / mu)) <= delta

    return 0.0 if mu == 0.0 or fits(0.0) else up(search(fits)) + 2.0**-46

# --- parts of entries ---

def canonical(value: object) -> str:
    return json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False)

def in_text(pair: int) -> dict[str, str]:
    return {"loss": text(pair // DELTA), "delta": text(pair % DELTA)}

def parts(value: Any, names: str) -> Any:
    need(isinstance(value, dict) and value.keys() == set(names.split()), f"expected exactly these parts: {names}")
    return value

def whole(value: Any, least: int = 0) -> Any:
    need(type(value) is int and value >= least, f"expected a whole number of at least {least}, got {value!r:.99}")
    return value

def hexadecimal(value: Any, digits: int) -> bytes:
    fits = isinstance(value, str) and len(value) == digits and not set(value) - set("0123456789abcdef")
    need(fits, f"expected {digits} digits of lower-case hexadecimal, got {value!r:.99}")
    return bytes.fromhex(value)

def amount_of(value: Any) -> int:
    units = []
    for digits, _, exponent in (parts(value, "loss delta")[name].partition("p") for name in ("loss", "delta")):
        need(0 <= int(exponent[:8]) + 1074 <= 2148 - 4 * len(digits), "an amount beyond any float")
        units.append(int(digits, 16) << (int(exponent[:8]) + 1074))
    need(min(units) >= 0 and in_text(units[0] * DELTA + units[1]) == value, "an amount is not written like this")
    return units[0] * DELTA + units[1]

def cost_of(value: Any) -> Any:
    numbers = [parts(value, f"kind {COSTS[value['kind']]}")[name] for name in COSTS[value["kind"]].split()]
    need(all(isinstance(x, float) and 0.0 <= x < math.inf and str(x)[0] != "-" for x in numbers), "it is no cost")
    need(value.get("delta", 0.0) < 1.0 and value.get("sampling_rate", 0.0) <= 1.0, "a chance above 1")
    return (value["kind"], *[*numbers, 0.0, 0.0][:2])

def is_private(value: Any) -> bool:
    """Whether a mechanism draws noise that is no simulation; its bounds must be some that can be."""
    bound, zeta, texts = parts(value, DESCRIBED)["sensitivity"], value["zeta"], ("mechanism", "noise", "norm", "query")
    need((bound == 0 and value["norm"] == "none") or 0 < bound <= sys.float_info.max, "a sensitivity that cannot be")
    need(type(bound) is not bool and (zeta is None or 0 <= zeta <= 1), "a sensitivity, or a ζ, that cannot be")
    need(all(isinstance(value[x], str) for x in texts) and type(value["private"]) is bool, "a bad description")
    return bool(value["private"])

# --- files ---

def entries_of(path: Path) -> Iterator[Any]:
    """Of an export, or of a SQLite file, which is opened for reading only."""
    if path.read_bytes()[:15] == b"SQLite format 3":
        connection = sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True)
        return iter(connection.execute("SELECT number, kind, line, digest FROM exchequer_entries ORDER BY number"))
    first, *each = map(json.loads, lines := path.read_bytes().decode("ascii").removesuffix("\n").split("\n"))
    need([*map(canonical, (first, *each))] == lines and first["exchequer"] == "ledger", "it is no export")
    need(not each or f'"id":{canonical(first["id"])},' in each[0]["line"], "its id is not that of its ledger")
    here = {"entries": len(each), "head": each[-1]["digest"] if each else "0" * 64, "schema": 1}
    need(parts(first, "entries exchequer head id schema") == {**first, **here}, "it is cut off, or has another head")
    return ((x["number"], x["kind"], x["line"], x["digest"]) for x in each if parts(x, "digest kind line number"))
