"""OpenDP's measurements as mechanisms: their privacy map gives the cost, their input metric the adjacency."""

import importlib.metadata
import math
import warnings
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any, Final, Protocol, get_args, runtime_checkable

from accountant import ZCDP, AddRemoveOne, Adjacency, ApproxDP, Cost, PureDP, ReplaceOne
from accountant.costs import curves, exact, float_down, float_up, open_probability
from mechanisms.foreign.declared import DeclaredMechanism, trust


@runtime_checkable
class Measurement(Protocol):
    """What is used of `opendp.mod.Measurement`."""

    @property
    def input_domain(self) -> object:
        """The data sets that it takes."""

    @property
    def input_metric(self) -> object:
        """What their distance is measured in."""

    @property
    def output_measure(self) -> object:
        """What the privacy loss is measured in."""

    def map(self, d_in: Any) -> Any:  # numbers of whatever type OpenDP names
        """The privacy loss between data sets that far apart."""

    def __call__(self, arg: Any) -> Any:  # data and releases of whatever type OpenDP names
        """A release."""


DISTANCES: Final[Mapping[str, Mapping[type[Adjacency], int]]] = {
    "SymmetricDistance": {AddRemoveOne: 1, ReplaceOne: 2},
    "InsertDeleteDistance": {AddRemoveOne: 1, ReplaceOne: 2},
    "ChangeOneDistance": {ReplaceOne: 1},
    "HammingDistance": {ReplaceOne: 1},
}
"""How far apart neighbours are in each of OpenDP's metrics on data sets. A record that is replaced leaves, and another
comes: two steps, where coming and leaving are counted."""


def from_opendp(
    measurement: Measurement,
    *,
    adjacency: Adjacency,
    distance: int | None = None,
    delta: float | None = None,
) -> DeclaredMechanism[Any, Any]:  # whatever the measurement takes and gives
    """The measurement as a mechanism, for `Ledger.release`, which charges before OpenDP's code runs.

    adjacency: AddRemoveOne() or ReplaceOne(), as the ledger promises.
    distance: the input distance at which the privacy map is asked, at least that of neighbours, which None stands for:
    1 for add-remove-one, and for replace-one 1 in the change-one and Hamming distances, 2 in the others. More is for
    records of which one person has several.
    delta: in (0, 1), where the output measure is a curve and needs a δ to be read at; None elsewhere.
    Costs: PureDP of a max divergence, ZCDP of a zero-concentrated one, ApproxDP of approximate and smoothed ones.
    Domains, metrics and measures are told by their types in OpenDP: those of one's own are not taken for its own, by
    whatever name; nor are data frames, whose public facts (group lengths, say) are released for nothing.
    Data outside the measurement's domain is refused before the charge.
    Raises TypeError for what is no measurement, ValueError for a metric, a measure, a domain or a distance that no cost
    of ours follows from, each by its name, and for a privacy loss of 0 between neighbours. [declared-elsewhere]
    """
    if not isinstance(measurement, Measurement):
        raise TypeError(f"measurement: expected one of OpenDP's measurements, got {type(measurement).__name__}")
    if not isinstance(adjacency, get_args(Adjacency)):
        raise TypeError(f"adjacency: expected AddRemoveOne() or ReplaceOne(), got {adjacency!r:.99}")
    metric = _kind(measurement.input_metric)
    far = _distance(metric, adjacency, distance)
    _refuse_unknown(measurement.input_domain)
    _refuse_known_size(measurement.input_domain, metric, adjacency)
    measure, library = _kind(measurement.output_measure), f"OpenDP {importlib.metadata.version('opendp')}"
    loss = _mapped(measurement, measure, far)
    cost = _cost(measure, loss, delta)
    _refuse_free(cost, loss, metric, far)
    return DeclaredMechanism(
        run=measurement,
        cost=cost,
        adjacency=adjacency,
        library=library,
        name="measurement",
        norm=metric,
        distance=float(far),
        parameters=(
            ("input domain", str(measurement.input_domain)[:200]),
            ("output measure", measure),
            ("priced by", trust(f"the privacy map of {library}")),
        ),
        check_data=_member_of(measurement.input_domain),
    )


def _mapped(measurement: Measurement, measure: str, far: int) -> Any:  # numbers of whatever type OpenDP names
    """The privacy loss at that distance. Raises ValueError where the map gives none, or less than nearer by."""
    try:
        losses = [measurement.map(each) for each in (1, far)]
    except Exception as error:  # of another library's code, which may raise anything
        said = f"{type(error).__name__}: {' '.join(str(error).split()):.300}"
        raise ValueError(f"the privacy map gives no loss at distance {far}: {said}") from None
    if measure in ("MaxDivergence", "ZeroConcentratedDivergence") and not losses[0] <= losses[1]:
        raise ValueError(
            f"the privacy map gives {losses[1]!r} at distance {far} and {losses[0]!r} at distance 1, where data sets "
            "are nearer to each other: it is no map of a privacy loss"
        )
    return losses[1]


def distance_of_neighbours(metric: str, adjacency: Adjacency) -> int:
    """How far apart neighbours are in a metric, by OpenDP's name of it. Raises ValueError."""
    return _distance(metric.removesuffix("()"), adjacency, None)


def cost_of_loss(measure: str, loss: Any, delta: float | None, metric: str, far: int) -> Cost:  # numbers of any type
    """The cost that a privacy map's loss at neighbours' distance stands for; measure and metric by OpenDP's names.

    Raises ValueError for a measure that is not known, for what is no loss of it, and for one of 0.
    """
    try:
        cost = _cost(measure.replace("(", "<").replace(")", ">"), loss, delta)
    except TypeError as error:
        raise ValueError(f"loss: {error}") from None
    _refuse_free(cost, loss, metric, far)
    return cost


def _distance(metric: str, adjacency: Adjacency, asked: int | None) -> int:
    if metric not in DISTANCES:
        raise ValueError(
            f"input metric {metric}: it does not say which data sets are neighbours; known are {', '.join(DISTANCES)}. "
            "Chain the transformation from the records to this measurement's input before it"
        )
    least = DISTANCES[metric].get(type(adjacency))
    if least is None:
        raise ValueError(f"input metric {metric}: no distance in it covers {adjacency}")
    if asked is None:
        return least
    if isinstance(asked, bool) or not isinstance(asked, int) or asked < least:
        raise ValueError(f"distance: neighbours under {adjacency.name} are {least} apart in {metric}, got {asked!r}")
    return asked


def _kind(part: Any) -> str:  # of OpenDP's, which have no types
    """What OpenDP calls the type of a metric, a measure or a domain: its own text may say anything."""
    return str(getattr(part, "type", type(part).__name__))


def _refuse_unknown(domain: object) -> None:
    if not _plain(getattr(domain, "type", None)):
        raise ValueError(
            f"input domain {domain} of type {_kind(domain)}: known are vectors of numbers, texts and truth values, "
            "missing ones included (AtomDomain, OptionDomain, VectorDomain). What neighbours share in others, as the "
            "group lengths of data frames, is released for nothing: use declared_elsewhere, at a cost you vouch for"
        )


def _plain(kind: Any) -> bool:  # opendp.typing.RuntimeType
    """Whether it is an AtomDomain, or an OptionDomain or VectorDomain of such."""
    origin, inside = getattr(kind, "origin", None), getattr(kind, "args", None) or ()
    return origin == "AtomDomain" or (origin in ("OptionDomain", "VectorDomain") and all(map(_plain, inside)))


def _refuse_free(cost: Cost, loss: Any, metric: str, far: int) -> None:  # what a privacy map gives
    """A map of 0 says that neighbours cannot be told apart: no proof of that is seen here, and nobody checks it."""
    free = cost in (PureDP(0.0), ZCDP(0.0), ApproxDP(0.0, 0.0))
    if isinstance(cost, ApproxDP) and not cost.epsilon and hasattr(loss, "delta"):
        free = not loss.delta(0.0)
    if free:
        raise ValueError(
            f"the privacy map gives a loss of 0 at distance {far} in {metric}: a release that costs nothing would "
            "not be counted, whatever it shows. What looks at nothing protected needs no ledger; for anything else the "
            "map, or the distance, is wrong"
        )


def _refuse_known_size(domain: object, metric: str, adjacency: Adjacency) -> None:
    """Of data sets of one size none has a neighbour with a record more: a map may call that distance free."""
    sized = getattr(domain, "size", None) is not None or "size=" in str(domain)
    if sized and isinstance(adjacency, AddRemoveOne):
        raise ValueError(
            f"input domain {domain}: the number of records is fixed, so nothing is promised under {adjacency.name}, "
            f"whatever the privacy map says at distance 1 in {metric}. Use a domain without a size, or replace-one"
        )


def _member_of(domain: object) -> Callable[[object], None]:
    def check(data: object) -> None:
        if not _is_member(domain, data):
            raise ValueError(
                f"the data is not in the measurement's input domain {domain}, or nobody can tell: OpenDP promises "
                "nothing for it. Clamp, cast or resize it in a transformation first. Nothing was charged"
            )

    return check


def _is_member(domain: Any, data: object) -> bool:  # of OpenDP's domains, which have no types
    """False where OpenDP cannot tell. Its warnings and errors show data, so nobody sees them."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return bool(domain.member(data))
        except Exception:  # of another library's code, which may raise anything
            return False


# --- from the output measure to a cost ----------------------------------------------------------------------------


def _cost(measure: str, loss: Any, delta: float | None) -> Cost:  # what a privacy map gives depends on its measure
    match measure:
        case "MaxDivergence":
            return PureDP(_no_delta(measure, _float_above(loss), delta))
        case "ZeroConcentratedDivergence":
            return ZCDP(_no_delta(measure, _float_above(loss), delta))
        case "Approximate<MaxDivergence>" | "FixedSmoothedMaxDivergence":
            epsilon, own = loss
            return ApproxDP(_no_delta(measure, _float_above(epsilon), delta), _float_above(own))
        case "Approximate<ZeroConcentratedDivergence>":
            rho, own = loss
            return _approximately_concentrated(_float_above(rho), _float_above(own), delta)
        case "SmoothedMaxDivergence":
            return _read_at(loss, _needed(measure, delta))
        case _:
            raise ValueError(
                f"output measure {measure}: no kind of cost here stands for it. Turn it into one of MaxDivergence, "
                "ZeroConcentratedDivergence, Approximate<…> or SmoothedMaxDivergence with OpenDP's combinators"
            )


def _approximately_concentrated(rho: float, own: float, delta: float | None) -> Cost:
    """ρ-zCDP but for a chance of `own`: (ε, δ) with ε at what is left of δ. [zcdp-tight]"""
    if not own:
        return ZCDP(_no_delta("Approximate<ZeroConcentratedDivergence> of δ = 0", rho, delta))
    whole = _needed("Approximate<ZeroConcentratedDivergence>", delta)
    room = float_down(max(exact(whole) - exact(own), Fraction(0)))
    if not room:
        raise ValueError(f"delta: this measurement spends {own!r} by itself; ask for more than that, got {whole!r}")
    return ApproxDP(curves.zcdp_epsilon(rho, room), whole)


MOST_RAISED: Final = 60
"""How often an ε that does not reach its δ is raised, by twice as much each time."""


def _read_at(profile: Any, delta: float) -> ApproxDP:  # opendp.mod.PrivacyProfile
    """The ε of a privacy profile at δ, raised until the profile itself confirms it."""
    epsilon = _float_above(profile.epsilon(delta))
    step = math.ulp(epsilon)
    for _ in range(MOST_RAISED):
        if profile.delta(epsilon) <= delta:
            return ApproxDP(epsilon, delta)
        epsilon, step = epsilon + step, 2.0 * step
    raise ValueError(f"output measure SmoothedMaxDivergence: its profile gives no ε at δ = {delta!r}")


def _float_above(value: object) -> float:
    """The smallest float that is no less than a number of whatever type; OpenDP's own floats are rounded up already."""
    if isinstance(value, float):
        return value
    if isinstance(value, int | Fraction) and not isinstance(value, bool) and value >= 0:
        return float_up(Fraction(value))
    raise TypeError(f"the privacy map gives {value!r} of type {type(value).__name__}, where a number was expected")


def _needed(measure: str, delta: float | None) -> float:
    if delta is None:
        raise ValueError(f"delta: the output measure {measure} is read at a δ; give one, as in delta=1e-6")
    return open_probability(delta)


def _no_delta(measure: str, loss: float, delta: float | None) -> float:
    if delta is not None:
        raise ValueError(f"delta: the output measure {measure} has no δ to choose; leave it out")
    return loss
