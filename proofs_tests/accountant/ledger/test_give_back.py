"""Rounds that were given back were never paid for: exactly, for an adversary who stops when an outcome suits it."""

import itertools
import math
from collections.abc import Iterator

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from accountant import (
    GDP,
    AdvancedComposition,
    ApproxDP,
    BasicComposition,
    BoundedRange,
    Budget,
    Composition,
    GDPComposition,
    Ledger,
    Plan,
    PureDP,
    ReplaceOne,
    ReservationClosed,
    ZCDPComposition,
)
from accountant.costs.rounding import float_down
from proofs_tests.support.ledgers.doubles import RandomizedResponse

ROUNDS = 4


@attrs.define
class Script:
    """Outcomes that are given in advance, and the probability of each under the bit that is sealed."""

    outcomes: Iterator[bool]
    log_probability: float = 0.0


@attrs.frozen(slots=False)
class Scripted(RandomizedResponse):
    """Randomized response that answers by a script and keeps the probability of its answer."""

    script: Script = attrs.field(factory=lambda: Script(iter(())))

    def sample(self, data: bool) -> bool:
        answer = next(self.script.outcomes)
        truth = 1.0 / (1.0 + math.exp(-self.epsilon))
        self.script.log_probability += math.log(truth if answer == data else 1.0 - truth)
        return answer


def transcript(bit: bool, outcomes: tuple[bool, ...], epsilon: float) -> tuple[float, tuple[bool, ...]]:
    """Reserve, stop at the first True and give back, spend all that is left in one release; its log-probability."""
    script = Script(iter(outcomes))
    ledger = Ledger(PureDP(ROUNDS * epsilon), composition=BasicComposition(), adjacency=ReplaceOne())
    sealed, said = ledger.protect(bit), []
    with ledger.reserve(Plan.of(PureDP(epsilon), ROUNDS), adjacency=ReplaceOne()) as charge:
        for _ in range(ROUNDS):
            said.append(charge.release(Scripted(epsilon, script=script), sealed))
            if said[-1]:
                break
        charge.give_back()
    left = float_down(ledger.remaining.loss)
    if left:
        said.append(ledger.release(Scripted(left, script=script), sealed))
    assert ledger.verify().sound
    return script.log_probability, tuple(said)


@pytest.mark.parametrize("epsilon", [0.05, 0.5, 2.0])
def test_an_adversary_that_stops_when_it_likes_gets_no_more_than_the_budget(epsilon: float) -> None:
    """All transcripts of 4 rounds and what is bought from the rest: the worst loss is the budget, and is attained."""
    worst, mass = 0.0, {True: 0.0, False: 0.0}
    seen: set[tuple[bool, ...]] = set()
    for outcomes in itertools.product([False, True], repeat=ROUNDS + 1):
        (one, said), (other, _) = (transcript(bit, outcomes, epsilon) for bit in (True, False))
        if said in seen:
            continue
        seen.add(said)
        mass = {True: mass[True] + math.exp(one), False: mass[False] + math.exp(other)}
        worst = max(worst, abs(one - other))
    assert mass == pytest.approx({True: 1.0, False: 1.0})
    assert worst <= ROUNDS * epsilon * (1.0 + 1e-12)
    assert worst >= 0.999 * ROUNDS * epsilon


RULES: list[tuple[Composition, Budget]] = [
    (BasicComposition(), PureDP(3.0)),
    (AdvancedComposition(1e-6), ApproxDP(3.0, 1e-5)),
    (ZCDPComposition(), ApproxDP(3.0, 1e-5)),
    (GDPComposition(), ApproxDP(3.0, 1e-5)),
    (GDPComposition(), GDP(1.0)),
]


@pytest.mark.parametrize(("rule", "budget"), RULES)
@given(used=st.integers(0, 6), data=st.data())
def test_what_is_given_back_is_exactly_what_the_unused_rounds_cost(
    rule: Composition, budget: Budget, used: int, data: st.DataObject
) -> None:
    costs = data.draw(st.lists(st.floats(0.01, 0.2), min_size=6, max_size=6))
    ledger = Ledger(budget, composition=rule, adjacency=ReplaceOne())
    before, sealed = ledger.remaining, ledger.protect(True)
    kind = GDP if isinstance(rule, GDPComposition) else PureDP
    rounds = [RandomizedResponse(cost, kind=kind) for cost in costs]
    with ledger.reserve(Plan.sequence([each.cost for each in rounds]), adjacency=ReplaceOne()) as charge:
        for each in rounds[:used]:
            charge.release(each, sealed)
        assert charge.give_back() == 6 - used
        with pytest.raises(ReservationClosed):
            charge.release(RandomizedResponse(0.001, kind=kind), sealed)
        with pytest.raises(ReservationClosed):
            charge.give_back()
    spent = sum((rule.amount(each.cost).loss for each in rounds[:used]), start=before.loss * 0)
    assert before.loss - ledger.remaining.loss == spent
    assert ledger.verify().sound
    assert not ledger.statement().unreleased


def test_a_plan_at_one_price_gives_back_all_rounds_or_none() -> None:
    """Its price holds for all of its rounds together; what a part of them costs, it does not say."""
    ledger = Ledger(ApproxDP(3.0, 1e-5), composition=BasicComposition(), adjacency=ReplaceOne())
    plan, sealed = Plan.of(BoundedRange(0.1), 10), ledger.protect(True)
    with ledger.reserve(plan, adjacency=ReplaceOne(), delta=1e-6) as charge:
        assert charge.give_back() == 10
    assert ledger.spent == ApproxDP(0.0, 0.0)
    with ledger.reserve(plan, adjacency=ReplaceOne(), delta=1e-6) as charge:
        charge.release(RandomizedResponse(0.1, kind=BoundedRange), sealed)
        with pytest.raises(ReservationClosed, match="none can be given back"):
            charge.give_back()
        charge.release(RandomizedResponse(0.1, kind=BoundedRange), sealed)
    assert ledger.spent == plan.price(1e-6).best
    assert ledger.verify().sound


def test_nothing_is_given_back_after_the_block() -> None:
    ledger = Ledger(PureDP(1.0), composition=BasicComposition(), adjacency=ReplaceOne())
    with ledger.reserve(Plan.of(PureDP(0.125), 4), adjacency=ReplaceOne()) as charge:
        pass
    with pytest.raises(ReservationClosed, match="stays spent"):
        charge.give_back()
    assert ledger.spent == PureDP(0.5)
