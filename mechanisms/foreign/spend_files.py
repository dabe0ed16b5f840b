"""Files that say what was spent elsewhere: our own described format, and what Opacus, OpenDP and Tumult keep.

The format of our own is `spends.schema.json` beside this module. Formats are told apart by what a file holds.
"""

import contextlib
import hashlib
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple, TypeAlias

from accountant import ZCDP, AddRemoveOne, Adjacency, ApproxDP, Cost, Plan, PureDP, ReplaceOne, Step
from accountant.canonical_json import canonical
from accountant.costs import KINDS, adjacency_from_record, cost_from_dict, count
from mechanisms.foreign.events import plan_of_opacus
from mechanisms.foreign.file_contents import content_of, state_of
from mechanisms.foreign.opendp_measurements import cost_of_loss, distance_of_neighbours, from_opendp
from mechanisms.foreign.spends import ForeignSpend

FORMAT: Final = "exchequer-spends-1"
"""What a file of our own format calls itself."""


class SpendFile(NamedTuple):
    """What a file says. digest: SHA-256 of its content, whatever its spelling.  kind: which format it is."""

    spends: tuple[ForeignSpend, ...]
    digest: str
    kind: str


def read_spends(path: Path, *, adjacency: Adjacency, delta: float | None = None) -> SpendFile:
    """The spends that a file declares, all of them or an error.

    path: JSON, or a checkpoint of Opacus (`.pt`, `.pth`), for which torch must be installed; no code in it is run.
    adjacency: the ledger's, under which privacy maps of OpenDP are asked; other formats say theirs.
    delta: where a curve of OpenDP is read.
    Raises ValueError for what is no such file, with the place of the culprit, and ImportError without torch.
    """
    content = content_of(path)
    try:
        kind, spends = parsed(content, adjacency=adjacency, delta=delta)
    except TypeError as error:  # a text where a number was expected, say
        raise ValueError(f"{path.name}: {error}") from None
    return SpendFile(tuple(spends), hashlib.sha256(canonical(content).encode()).hexdigest(), kind)


def parsed(content: Any, *, adjacency: Adjacency, delta: float | None = None) -> tuple[str, list[ForeignSpend]]:
    """The format of what was read, and its spends. content: as JSON has it. Raises ValueError."""
    state = state_of(content)
    if state is not None:
        return "Opacus", [_opacus(state)]
    if isinstance(content, Mapping) and content.get("format") == FORMAT:
        return FORMAT, _each(content, "spends", _own)
    measurements = content if isinstance(content, list) else [content]
    if measurements and all(isinstance(each, Mapping) and _is_opendp(each) for each in measurements):
        return "OpenDP", [_opendp(each, adjacency, delta) for each in measurements]
    if isinstance(content, Mapping) and "privacy_budget" in content:
        return "Tumult", [_tumult(content)]
    if isinstance(content, Mapping) and str(content.get("format", "")).startswith(FORMAT.rpartition("-")[0]):
        raise ValueError(f"format: {content['format']!r:.99} is of another version; this one reads {FORMAT!r}")
    raise ValueError(
        f'this is none of the known formats: {{"format": "{FORMAT}", "spends": […]}}; the state_dict of an accountant '
        "of Opacus, or its history; a serialized measurement of OpenDP, or its input_metric, output_measure and loss; "
        "a session of Tumult with its privacy_budget and protected_change"
    )


Reader: TypeAlias = Callable[[Mapping[str, Any]], ForeignSpend]


def _each(content: Mapping[str, Any], name: str, one: Reader) -> list[ForeignSpend]:
    found = content.get(name)
    _refuse_others(content, {"format", name})
    if not isinstance(found, list) or not found:
        raise ValueError(f"{name}: expected a list of at least one")
    spends = []
    for place, record in enumerate(found):
        try:
            spends.append(one(_mapping(record)))
        except (ValueError, TypeError) as error:
            raise ValueError(f"{name}[{place}]: {error}") from None
    return spends


def _mapping(record: object) -> Mapping[str, Any]:
    if not isinstance(record, Mapping):
        raise ValueError(f"expected names and values, got {record!r:.99}")
    return record


def _refuse_others(record: Mapping[str, Any], known: Iterable[str]) -> None:
    if unknown := sorted(set(record) - set(known)):
        raise ValueError(f"unknown: {', '.join(map(repr, unknown))}; known are {', '.join(sorted(known))}")


# --- our own ------------------------------------------------------------------------------------------------------

OWN: Final = ("cost", "adjacency", "library", "version", "name", "date", "times", "delta")


def _own(record: Mapping[str, Any]) -> ForeignSpend:
    _refuse_others(record, OWN)
    if missing := [name for name in ("cost", "adjacency", "library", "version", "name") if name not in record]:
        raise ValueError(f"missing: {', '.join(missing)}")
    for name in ("library", "version"):
        if not isinstance(record[name], str) or not record[name].strip():
            raise ValueError(f"{name}: expected a text, got {record[name]!r:.99}")
    relation = _adjacency(record["adjacency"])
    plan = Plan([Step(_cost(record["cost"]), count(record.get("times", 1)))], adjacency=relation)
    library = f"{record['library']} {record['version']}"
    return ForeignSpend(plan, relation, library, record["name"], record.get("date", ""), record.get("delta"))


def _cost(record: object) -> Cost:
    found = _mapping(record)
    if not isinstance(found.get("kind"), str):
        raise ValueError(f"cost: kind must be a text, got {found.get('kind')!r:.99}")
    if found["kind"] in KINDS:
        for name in set(found) - {"kind"}:
            if isinstance(found[name], bool) or not isinstance(found[name], float | int):
                raise ValueError(f"cost: {name} must be a number, got {found[name]!r:.99}")
    try:
        return cost_from_dict(found)
    except TypeError as error:
        raise ValueError(f"cost: {error}") from None


def _adjacency(name: object) -> Adjacency:
    if isinstance(name, Mapping):
        return adjacency_from_record(name)
    for relation in (AddRemoveOne(), ReplaceOne()):
        if name == relation.name:
            return relation
    raise ValueError(f"adjacency: expected {AddRemoveOne.name} or {ReplaceOne.name}, got {name!r:.99}")


# --- Opacus -------------------------------------------------------------------------------------------------------


def _opacus(state: Mapping[str, Any]) -> ForeignSpend:
    library = f"Opacus ({state.get('mechanism', 'unknown')!s:.40} accountant)"
    return ForeignSpend(plan_of_opacus(state), AddRemoveOne(), library, "DP-SGD")


# --- OpenDP -------------------------------------------------------------------------------------------------------

PARTS: Final = ("input_metric", "input_distance", "output_measure", "loss", "version", "name", "date", "times")

MODULES: Final = frozenset({"combinators", "core", "domains", "measurements", "measures", "metrics", "transformations"})
"""Of OpenDP, whose constructors a serialized measurement may name."""

CONSTRUCTOR: Final = re.compile(
    r"(make_[a-z0-9_A-Z]+|[a-z0-9_]+_(domain|distance|divergence)|approximate|symmetric_distance|"
    r"(transformation|measurement)_(input|output)_(domain|metric|measure))"
)


def _is_opendp(record: Mapping[str, Any]) -> bool:
    return "__function__" in record or {"input_metric", "output_measure", "loss"} <= set(record)


def _opendp(record: Mapping[str, Any], adjacency: Adjacency, delta: float | None) -> ForeignSpend:
    if "__function__" in record:
        return _serialized(record, adjacency, delta)
    _refuse_others(record, PARTS)
    metric, measure, loss = str(record["input_metric"]), str(record["output_measure"]), record["loss"]
    least = distance_of_neighbours(metric, adjacency)
    if type(record.get("input_distance")) is bool or record.get("input_distance") != least:
        raise ValueError(
            f"input_distance: neighbours under {adjacency.name} are {least} apart in {metric}, got "
            f"{record.get('input_distance')!r:.99}: ask the measurement's map at that distance"
        )
    cost = cost_of_loss(measure, tuple(loss) if isinstance(loss, list) else _number(loss), delta, metric, least)
    library = f"OpenDP {record.get('version', 'of unknown version')}"
    plan = Plan([Step(cost, count(record.get("times", 1)))], adjacency=adjacency)
    return ForeignSpend(plan, adjacency, library, record.get("name", "measurement"), record.get("date", ""))


def _number(loss: object) -> float:
    if isinstance(loss, bool) or not isinstance(loss, float | int):
        raise ValueError(f"loss: expected a number, or two of an approximate measure, got {loss!r:.99}")
    return float(loss)


def _serialized(record: Mapping[str, Any], adjacency: Adjacency, delta: float | None) -> ForeignSpend:
    """What `opendp.mod.serialize` wrote: only constructors of OpenDP are called, and none of its measurements."""
    _refuse_code(record)
    try:
        import opendp.mod
        import opendp.prelude as prelude
    except ImportError:
        raise ValueError(
            "this is a serialized measurement, which only OpenDP can read: install opendp, or write down its "
            "input_metric, input_distance, output_measure and loss"
        ) from None
    with _features(opendp.mod.GLOBAL_FEATURES):
        try:
            prelude.enable_features("contrib", "honest-but-curious")
            measurement: Any = opendp.mod.deserialize(json.dumps(record))  # type: ignore[no-untyped-call]  # no types
        except Exception as error:  # of another library, which may raise anything
            raise ValueError(f"OpenDP cannot read this measurement: {error!s:.300}") from None
    mechanism = from_opendp(measurement, adjacency=adjacency, delta=delta)
    plan = Plan([Step(mechanism.cost, 1)], adjacency=adjacency)
    return ForeignSpend(plan, adjacency, f"OpenDP {record.get('__version__', '')}".strip(), "measurement")


@contextlib.contextmanager
def _features(enabled: set[str]) -> Iterator[None]:
    """What the process has enabled of OpenDP is the same afterwards: reading a file is no consent to use it."""
    before = set(enabled)
    try:
        yield
    finally:
        enabled.intersection_update(before)


FLAGS: Final = frozenset({"__function__", "__module__", "__kwargs__", "__tuple__", "__version__"})
"""Of OpenDP's serialized objects, those that bring no code along. `__expr__` and `__lazyframe__` may hold pickles,
which polars reads, and the texts in a `__margin__` are read once more."""


def _refuse_code(part: object) -> None:
    """Refuse names of functions that are no constructors: deserializing looks up whatever a file names."""
    if isinstance(part, Mapping):
        if strange := sorted(name for name in part if str(name).startswith("__") and name not in FLAGS):
            raise ValueError(f"{strange[0]!r:.99} of a serialized object may bring code along, and is not read")
        if "__function__" in part or "__module__" in part:
            module, function = part.get("__module__"), part.get("__function__")
            known = isinstance(module, str) and module in MODULES
            if not known or not isinstance(function, str) or not CONSTRUCTOR.fullmatch(function):
                raise ValueError(f"{module!r:.99}.{function!r:.99} is no constructor of OpenDP that is known here")
        for each in part.values():
            _refuse_code(each)
    elif isinstance(part, list):
        for each in part:
            _refuse_code(each)


# --- Tumult -------------------------------------------------------------------------------------------------------

SESSION: Final = ("privacy_budget", "protected_change", "version", "name", "date")

BUDGETS: Final[Mapping[str, tuple[type[PureDP | ApproxDP | ZCDP], tuple[str, ...]]]] = {
    "PureDPBudget": (PureDP, ("epsilon",)),
    "ApproxDPBudget": (ApproxDP, ("epsilon", "delta")),
    "RhoZCDPBudget": (ZCDP, ("rho",)),
}
"""Of Tumult's budgets: the cost that they are, and what they say, in its order."""


def _tumult(record: Mapping[str, Any]) -> ForeignSpend:
    """A session's budget, as it was opened with: what a session did not spend of it is lost to it, and counts here."""
    _refuse_others(record, SESSION)
    cost = _budget(_mapping(record["privacy_budget"]))
    change = record.get("protected_change")
    if change != "AddOneRow":
        raise ValueError(
            f"protected_change: AddOneRow is what {AddRemoveOne.name} says, got {change!r:.99}; no ledger here "
            "promises another of Tumult's"
        )
    library = f"Tumult Analytics {record.get('version', 'of unknown version')}"
    plan = Plan([Step(cost, 1)], adjacency=AddRemoveOne())
    return ForeignSpend(plan, AddRemoveOne(), library, record.get("name", "a session"), record.get("date", ""))


def _budget(record: Mapping[str, Any]) -> Cost:
    kind = record.get("kind")
    if not isinstance(kind, str) or kind not in BUDGETS:
        raise ValueError(f"privacy_budget: expected a kind of {', '.join(BUDGETS)}, got {kind!r:.99}")
    cost, names = BUDGETS[kind]
    _refuse_others(record, {"kind", *names})
    if missing := [name for name in names if name not in record]:
        raise ValueError(f"privacy_budget: {kind} needs {', '.join(missing)}")
    return cost(*(record[name] for name in names))
