"""Processes that charge near a limit at the same time never exceed it: one ledger, or several in a registry."""

from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import pytest

from accountant.policies import breaches, read_policy
from accountant.registry import Registry
from proofs_tests.support.ledgers.durable import Places
from proofs_tests.support.ledgers.policed import pay_until_refused, policed, policy_in

YEAR = "[limits.year]\nepsilon = 1\ndelta = 0\n"


@pytest.mark.parametrize("processes", [2])
def test_a_limit_is_used_up_and_never_exceeded_by_two_processes(
    places: Places, quick_folder: Path, processes: int
) -> None:
    policy = policy_in(quick_folder, YEAR)
    with places() as url, ProcessPoolExecutor(processes, get_context("spawn")) as pool:
        policed(url, policy).close()
        jobs = [pool.submit(pay_until_refused, url, policy, None, 1 / 64) for _ in range(processes)]
        charged = [job.result() for job in jobs]
        assert sum(charged) == 64
        with policed(url, policy) as ledger:
            assert ledger.spent.as_dict()["epsilon"] == 1.0
            assert not ledger.verify().errors
            assert not breaches(ledger.entries, read_policy(policy)).breaches


def test_two_ledgers_in_a_registry_do_not_exceed_it_together(places: Places, quick_folder: Path) -> None:
    policy = policy_in(quick_folder, YEAR)
    with places() as first, places() as second, places() as registry:
        Registry.create(registry).close()
        with ProcessPoolExecutor(2, get_context("spawn")) as pool:
            jobs = [pool.submit(pay_until_refused, url, policy, registry, 1 / 64, 0.75) for url in (first, second)]
            charged = [job.result() for job in jobs]
        assert 16 <= sum(charged) <= 64
        assert max(charged) <= 48
