"""Random ledgers, of every rule and kind of entry, that are sound: what two verifiers must agree on."""

import contextlib
import random
from collections.abc import Sequence
from fractions import Fraction
from typing import Final

from accountant import (
    GDP,
    ZCDP,
    About,
    AddRemoveOne,
    Adjacency,
    AdvancedComposition,
    ApproxDP,
    BasicComposition,
    BoundedRange,
    Budget,
    Composition,
    Cost,
    Description,
    Entry,
    FeatureValue,
    GDPComposition,
    LaplaceDP,
    Ledger,
    NoBound,
    Plan,
    PureDP,
    ReplaceOne,
    Reservation,
    Step,
    SubsampledGaussian,
    TextbookComposition,
    Unbounded,
    ZCDPComposition,
)
from accountant.composition import UnsupportedCost
from accountant.costs import SECURE, SEEDED, BeyondFloats
from accountant.exceptions import (
    AdjacencyMismatch,
    BudgetExceeded,
    KeyRefused,
    NotSpendable,
    ReservationClosed,
    SubBudgetRefused,
    UnknownLabel,
)
from proofs_tests.support.ledgers.first_format import in_memory_in_first_format
from proofs_tests.support.ledgers.random_writers import event_of_writers

RULES: Final[Sequence[tuple[Composition, Budget]]] = (
    (BasicComposition(), PureDP(2.0)),
    (BasicComposition(), ApproxDP(3.0, 1e-5)),
    (ZCDPComposition(), ZCDP(0.5)),
    (ZCDPComposition(), ApproxDP(2.0, 1e-6)),
    (GDPComposition(), GDP(1.5)),
    (GDPComposition(), ApproxDP(4.0, 1e-6)),
    (AdvancedComposition(5e-7), ApproxDP(2.5, 1e-5)),
    (TextbookComposition(5e-7), ApproxDP(2.5, 1e-5)),
    (NoBound(), Unbounded()),
)
REFUSED: Final = (
    AdjacencyMismatch,
    BudgetExceeded,
    KeyRefused,
    NotSpendable,
    ReservationClosed,
    SubBudgetRefused,
    UnknownLabel,
    UnsupportedCost,
    BeyondFloats,
)
ABOUTS: Final = (About(dataset="hospital"), About(dataset="Schüler", user="ada"), About(purpose="a pilot"))


def described(private: bool) -> Description:
    """What an entry may say of a mechanism."""
    noise = SECURE if private else SEEDED
    return Description("Noise", "query", (("scale", 0.1),), "l2", 1.0, None, noise, private, ("gdp",))


def random_cost(rule: Composition, draw: random.Random) -> Cost:
    """One that the rule takes, as a rule."""
    size = draw.choice((1.0, 0.1, 0.013, 1e-3)) * draw.random()
    gaussians: list[Cost] = [GDP(size), SubsampledGaussian(size, draw.choice((0.0, 0.01, 1.0)))]
    if isinstance(rule, GDPComposition):
        return draw.choice([*gaussians, PureDP(0.0)])
    pure: list[Cost] = [PureDP(size), LaplaceDP(size), BoundedRange(size)]
    if isinstance(rule, BasicComposition):
        return draw.choice([*pure, ApproxDP(size, 1e-8)])
    if isinstance(rule, ZCDPComposition):
        return draw.choice([*pure, *gaussians, ZCDP(size * size), ApproxDP(size, 0.0)])
    return draw.choice([*pure, *gaussians, ZCDP(size * size), ApproxDP(size, 1e-8)])


def random_ledger(draw: random.Random, most: int = 14) -> list[Entry]:
    """The entries of a sound ledger, with up to so many events, or twice as many where writers sign."""
    rule, budget = draw.choice(RULES)
    adjacency: Adjacency = draw.choice((AddRemoveOne(), AddRemoveOne(), ReplaceOne(), FeatureValue(3)))
    opens = in_memory_in_first_format if draw.random() < 0.4 else Ledger
    ledger: Ledger = opens(budget, composition=rule, adjacency=adjacency)
    handles, waiting = [ledger], list[Reservation]()
    of_writers = 0.4 if draw.random() < 0.3 else 0.0
    for _ in range(draw.randrange(2 * most if of_writers else most)):
        handle = draw.choice(handles)
        if draw.random() < (0.08 if opens is in_memory_in_first_format else 0.3):
            handle = handle.concerning(draw.choice(ABOUTS))
        with contextlib.suppress(*REFUSED):
            if draw.random() < of_writers:
                event_of_writers(draw, ledger)
            else:
                _event(draw, ledger, handle, handles, waiting)
    for reservation in waiting:  # also after the sub-budget that paid was closed
        with contextlib.suppress(*REFUSED):
            _end(draw, reservation)
    if draw.random() < 0.7:
        with contextlib.suppress(KeyRefused):
            ledger.sign()
    return list(ledger.entries)


def _end(draw: random.Random, reservation: Reservation) -> None:
    chance = draw.random()
    if chance < 0.3:
        reservation.give_back()
    elif chance < 0.6:
        with reservation:
            reservation.note_drawn_elsewhere(described(private=True), 1)


def _event(
    draw: random.Random, ledger: Ledger, handle: Ledger, handles: list[Ledger], waiting: list[Reservation]
) -> None:
    rule, chance = ledger.composition, draw.random()
    if chance < 0.55:
        _charge(draw, handle, waiting, rule)
    elif chance < 0.7:
        share = draw.choice((Fraction(1, 2), Fraction(1, 3), 0.1, 1))
        handles.append(handle.allocate(draw.choice(("a", "b", "team c", "ä")), share))
    elif chance < 0.78:
        handles.append(handle.announce(draw.choice(("pilot", "pilot/x", "a", "zz"))))
    elif chance < 0.86:
        handle.close_account(draw.choice(("a", "b", "team c")))
    elif chance < 0.93:
        ledger._writer.write_checkpoint()
    else:
        charges = [entry.number for entry in ledger.entries if entry.kind == "charged"]
        if charges and ledger._writer.state.format == 2:
            ledger.note_model("ab" * 32, charges[-2:])


def _charge(draw: random.Random, handle: Ledger, waiting: list[Reservation], rule: Composition) -> None:
    steps = [Step(random_cost(rule, draw), draw.choice((1, 1, 2, 30))) for _ in range(draw.choice((1, 1, 2)))]
    delta = 0.0
    if isinstance(rule, BasicComposition) and draw.random() < 0.35:  # a plan at a price; by a quick theorem, as a rule
        cost = PureDP(0.05) if draw.random() < 0.1 else GDP(draw.random())
        steps = [Step(cost, draw.choice((1, 5)))]
        delta = draw.choice((1e-7, 3e-6))
    private = draw.random() < 0.8
    mechanism = described(private) if draw.random() < 0.7 else None
    adjacency, account = handle.adjacency, draw.choice(("main", "main", "pilot", "pilot/x/y", "somebody"))
    charge = handle.reserve(Plan(tuple(steps)), adjacency=adjacency, delta=delta, mechanism=mechanism, account=account)
    chance = draw.random()
    if chance < 0.25:
        waiting.append(charge)
        return
    with charge:
        used = draw.randrange(sum(step.rounds for step in steps) + 1)
        if used:
            charge.note_drawn_elsewhere(described(private or draw.random() < 0.3), used)
        if chance < 0.6:
            charge.give_back()
