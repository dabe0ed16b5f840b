"""What other accountants keep as histories, as plans: dp-accounting's events, and Opacus' lists of steps."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from accountant import GDP, AddRemoveOne, Adjacency, Cost, LaplaceDP, Plan, PureDP, Step, SubsampledGaussian
from accountant.composition import least_mu
from accountant.costs import count, exact, float_up, positive, probability

MOST_NESTED: Final = 100
"""Events inside of events."""

KNOWN: Final = (
    "NoOpDpEvent",
    "GaussianDpEvent",
    "LaplaceDpEvent",
    "PoissonSampledDpEvent",
    "ComposedDpEvent",
    "SelfComposedDpEvent",
)
"""Events of dp-accounting that have a cost here."""


_THEIRS: Final = AddRemoveOne()
"""What dp-accounting's accountants take for neighbours where nothing is said."""


def plan_of_events(event: object, *, adjacency: Adjacency = _THEIRS) -> Plan:
    """An event of dp-accounting, with all inside of it, as a plan: reserve(plan, adjacency=AddRemoveOne(), delta=…).

    event: NoOp, Gaussian, Laplace, PoissonSampled of Gaussians, Composed or SelfComposed, and of these in turn.
    adjacency: the relation in whose sensitivity noise multipliers are units; the event does not say. Theirs by default
    is add-remove-one, the only one for samples. The plan carries it, and ledgers that promise another one refuse it.
    Costs are LaplaceDP, GDP and SubsampledGaussian, rounded up, equal ones next to each other put together.
    Raises ValueError for any other event, by its name, and for numbers that promise nothing. [declared-elsewhere]
    """
    return _plan(_steps(event, 1, MOST_NESTED), adjacency)


def plan_of_opacus(history: object) -> Plan:
    """The history of an accountant of Opacus as a plan; for reserve(plan, adjacency=AddRemoveOne(), delta=…).

    history: [(noise_multiplier, sample_rate, steps), …], as `accountant.history` is; or what `accountant.state_dict()`
    gives, or a checkpoint's JSON. Opacus need not be installed. It must have drawn Poisson samples, its default: with
    shuffled batches no such plan is proved.
    The plan carries add-remove-one, which Opacus' noise multipliers are for; other ledgers refuse it.
    Raises ValueError for what is no such list, with the place of the culprit. [declared-elsewhere]
    """
    steps = history.get("history") if isinstance(history, Mapping) else history
    if not isinstance(steps, Sequence) or isinstance(steps, str | bytes) or not steps:
        raise ValueError(f"history: expected [(noise_multiplier, sample_rate, steps), …], got {history!r:.99}")
    return _plan((_opacus_step(place, step) for place, step in enumerate(steps)), AddRemoveOne())


def _opacus_step(place: int, step: object) -> Step:
    if not isinstance(step, Sequence) or isinstance(step, str | bytes) or len(step) != 3:
        raise ValueError(f"history[{place}]: expected (noise_multiplier, sample_rate, steps), got {step!r:.99}")
    try:
        return Step(SubsampledGaussian.of_noise(step[0], step[1]), step[2])
    except (TypeError, ValueError) as error:
        raise ValueError(f"history[{place}]: {error}, in {step!r:.99}") from error


def _plan(steps: Iterable[Step], adjacency: Adjacency) -> Plan:
    """Equal costs next to each other put together; a plan of nothing costs nothing."""
    merged: list[Step] = []
    for step in steps:
        if merged and merged[-1].cost == step.cost:
            merged[-1] = Step(step.cost, merged[-1].rounds + step.rounds)
        else:
            merged.append(step)
    return Plan(merged or [Step(PureDP(0.0), 1)], adjacency=adjacency)


# --- dp-accounting ------------------------------------------------------------------------------------------------


def _steps(event: Any, times: int, deep: int) -> Iterator[Step]:  # read by name: dp-accounting need not be installed
    """The steps of an event that happens so many times."""
    if not deep:
        raise ValueError(f"event: nested more than {MOST_NESTED} deep")
    match name := _name(event):
        case "NoOpDpEvent":
            return
        case "GaussianDpEvent":
            yield Step(GDP(_reciprocal(name, event.noise_multiplier)), times)
        case "LaplaceDpEvent":
            yield Step(LaplaceDP(_reciprocal(name, event.noise_multiplier)), times)
        case "PoissonSampledDpEvent":
            yield Step(_sampled(event, deep), times)
        case "ComposedDpEvent":
            for part in event.events:
                yield from _steps(part, times, deep - 1)
        case "SelfComposedDpEvent":
            yield from _steps(event.event, times * count(event.count), deep - 1)
        case _:
            raise ValueError(f"event: {name} has no cost here; known are {', '.join(KNOWN)}")


def _sampled(event: Any, deep: int) -> Cost:  # read by name, as above
    """All Gaussians of one sample are together one, of μ = √Σμ²."""
    rate, squares = probability(event.sampling_probability), exact(0.0)
    for step in _steps(event.event, 1, deep - 1):
        if not isinstance(step.cost, GDP):
            raise ValueError(
                f"event: PoissonSampledDpEvent of {_name(event.event)}: only Gaussians are priced on samples"
            )
        squares += step.rounds * exact(step.cost.mu) ** 2
    return SubsampledGaussian(least_mu(squares) if squares else 0.0, rate)


def _name(event: object) -> str:
    """Its class, where that is dp-accounting's."""
    kind = type(event)
    own = kind.__module__.split(".")[0] == "dp_accounting"
    return kind.__name__ if own else f"{kind.__module__}.{kind.__name__}"


def _reciprocal(name: str, multiplier: Any) -> float:  # of an event, which has no types
    """Rounded up."""
    try:
        return float_up(1 / exact(positive(multiplier)))
    except (TypeError, ValueError) as error:
        reason = f"event: {name} of noise multiplier {multiplier!r} promises nothing: it must be finite and above 0"
        raise ValueError(reason) from error
