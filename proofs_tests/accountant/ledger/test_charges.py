"""A piece of work hears of its own charges, and of no others."""

import asyncio
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from accountant import BasicComposition, BudgetExceeded, Ledger, Plan, PureDP, ReplaceOne
from accountant.ledger.charge_recorder import note, noted
from proofs_tests.support.ledgers.doubles import Breaks, RandomizedResponse


def ledger(epsilon: float = 100.0) -> Ledger:
    return Ledger(PureDP(epsilon), composition=BasicComposition(), adjacency=ReplaceOne())


def charged(books: Ledger) -> list[int]:
    return [entry.number for entry in books.entries if entry.kind == "charged"]


def test_the_numbers_are_those_of_the_charged_entries() -> None:
    books = ledger()
    data, bit = books.protect(True), RandomizedResponse(0.5)
    books.release(bit, data)
    with noted(books) as numbers:
        books.release(bit, data)
        with books.reserve(Plan.of(PureDP(0.5), 2), adjacency=ReplaceOne()) as reserved:
            assert numbers == [3, 5]
            reserved.release(bit, data)
    books.release(bit, data)
    assert numbers == [3, 5]
    assert charged(books) == [1, 3, 5, 7]


def test_charges_to_other_books_are_not_heard_and_those_to_sub_budgets_are() -> None:
    books, others = ledger(), ledger()
    team = books.allocate("team", 0.5)
    bit = RandomizedResponse(0.5)
    with noted(books) as whole, noted(team) as part, noted(others) as strange:
        team.release(bit, team.protect(True))
        books.release(bit, books.protect(True))
    assert whole == part == charged(books) == [2, 4]
    assert strange == []


def test_blocks_nest_and_end_with_whatever_ends_them() -> None:
    books = ledger(1.0)
    data = books.protect(True)
    with noted(books) as outer:
        with pytest.raises(RuntimeError), noted(books) as inner:
            books.release(Breaks(0.5), data)  # dies after the charge, which counts
        with pytest.raises(BudgetExceeded):
            books.release(RandomizedResponse(0.75), data)  # is refused, and not charged
        books.release(RandomizedResponse(0.5), data)
    assert inner == [1]
    assert outer == charged(books) == [1, 2]


def test_threads_hear_of_their_own_charges_only() -> None:
    books, bit, threads = ledger(1000.0), RandomizedResponse(0.5), 8
    data, together = books.protect(True), threading.Barrier(threads)

    def work(_: int) -> list[int]:
        with noted(books) as numbers:
            together.wait()
            for _ in range(50):
                books.release(bit, data)
        return numbers

    with ThreadPoolExecutor(threads) as pool:
        heard = list(pool.map(work, range(threads)))
    assert all(len(numbers) == 50 for numbers in heard)
    assert sorted(number for numbers in heard for number in numbers) == charged(books)


def test_tasks_hear_of_their_own_charges_only() -> None:
    books, bit = ledger(), RandomizedResponse(0.5)
    data = books.protect(True)

    async def work() -> list[int]:
        with noted(books) as numbers:
            for _ in range(3):
                books.release(bit, data)
                await asyncio.sleep(0)
        return numbers

    async def both() -> tuple[list[int], list[int]]:
        return await asyncio.gather(work(), work())

    one, other = asyncio.run(both())
    assert len(one) == len(other) == 3
    assert sorted(one + other) == charged(books)
    assert min(other) < max(one), "they took turns"


def test_nobody_need_listen() -> None:
    note(object(), 1)
