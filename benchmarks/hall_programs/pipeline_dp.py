"""PipelineDP: aggregations by its engine on its local backend."""

from collections.abc import Callable
from importlib import import_module
from typing import Any, Final

from benchmarks.hall_programs.program import APPROX, PURE, Data, Pair, Program

LIBRARY: Final = "pipeline-dp"
PINS: Final = ("pipeline-dp==0.3.1", "python-dp==1.1.5", "numpy==2.4.6", "scipy==1.17.1")

SOURCE: Final = 'NaiveBudgetAccountant: "total_epsilon", "total_delta"'
PERSON: Final = "add or remove one privacy unit"
PAIRS: Final[tuple[Pair, ...]] = (((0.0, 1.0), (0.0,)), ((0.0, 0.0), (0.0,)), ((1.0, 1.0, 0.0), (1.0, 1.0)))
KEPT: Final[tuple[Pair, ...]] = (((0.0, 0.0), (0.0,)), ((0.0, 0.0, 0.0), (0.0, 0.0)))


def _aggregated(
    *metrics: str, noise: str = "LAPLACE", delta: float = 0.0, contributions: int = 1
) -> Callable[[Data], object]:
    """Each record is a person's, of one public partition, or of as many as a person has contributions."""

    def drawn(data: Data) -> object:
        dp: Any = import_module("pipeline_dp")
        budget = dp.NaiveBudgetAccountant(total_epsilon=1.0, total_delta=delta)
        chosen = [dp.Metrics.PERCENTILE(50) if each == "PERCENTILE" else getattr(dp.Metrics, each) for each in metrics]
        wanted = dp.AggregateParams(
            metrics=chosen,
            noise_kind=getattr(dp.NoiseKind, noise),
            max_partitions_contributed=1,
            max_contributions_per_partition=contributions,
            min_value=0,
            max_value=1,
        )
        extractors = dp.DataExtractors(
            privacy_id_extractor=lambda row: row[0],
            partition_extractor=lambda row: 0,
            value_extractor=lambda row: row[1],
        )
        rows = [(person, value) for person, value in enumerate(data) for _ in range(2 * contributions)]
        found = dp.DPEngine(budget, dp.LocalBackend()).aggregate(rows, wanted, extractors, public_partitions=[0])
        budget.compute_budgets()
        return [list(metric) for _, metric in found]

    return drawn


def _selected(data: Data) -> object:
    """Which of the private partitions come out; each record is a person's, in partition 0."""
    dp: Any = import_module("pipeline_dp")
    budget = dp.NaiveBudgetAccountant(total_epsilon=1.0, total_delta=0.05)
    extractors = dp.DataExtractors(privacy_id_extractor=lambda row: row, partition_extractor=lambda row: 0)
    wanted = dp.SelectPartitionsParams(max_partitions_contributed=1)
    found = dp.DPEngine(budget, dp.LocalBackend()).select_partitions(range(len(data)), wanted, extractors)
    budget.compute_budgets()
    return sorted(found)


def _chosen(data: Data) -> object:
    computations: Any = import_module("pipeline_dp.dp_computations")

    class Counts(computations.ExponentialMechanism.ScoringFunction):  # type: ignore[misc]  # a class of the library
        global_sensitivity, is_monotonic = 1.0, True

        def score(self, k: float) -> float:
            return float(data.count(k))

    return float(computations.ExponentialMechanism(Counts()).apply(1.0, [0.0, 1.0]))


PROGRAMS: Final = (
    Program("COUNT", _aggregated("COUNT"), PAIRS, PURE, (1.0,), SOURCE, PERSON),
    Program("SUM, two rows of a person, one kept", _aggregated("SUM"), PAIRS, PURE, (1.0,), SOURCE, PERSON),
    Program("COUNT and SUM", _aggregated("COUNT", "SUM"), PAIRS, PURE, (1.0,), SOURCE, PERSON),
    Program("SUM, four rows, two kept", _aggregated("SUM", contributions=2), PAIRS, PURE, (1.0,), SOURCE, PERSON),
    Program("MEAN and COUNT", _aggregated("MEAN", "COUNT"), PAIRS, PURE, (1.0,), SOURCE, PERSON),
    Program("VARIANCE", _aggregated("VARIANCE"), PAIRS, PURE, (1.0,), SOURCE, PERSON),
    Program("PERCENTILE(50)", _aggregated("PERCENTILE"), PAIRS, PURE, (1.0,), SOURCE, PERSON),
    Program("SUM, last bits", _aggregated("SUM"), PAIRS[:1], PURE, (1.0,), SOURCE, PERSON, True),
    Program(
        "COUNT and SUM, Gaussian",
        _aggregated("COUNT", "SUM", noise="GAUSSIAN", delta=0.05),
        PAIRS,
        APPROX,
        (1.0, 0.05),
        SOURCE,
        PERSON,
    ),
    Program(
        "select_partitions",
        _selected,
        (((0.0, 0.0), (0.0,)), ((0.0, 0.0, 0.0), (0.0, 0.0))),
        APPROX,
        (1.0, 0.05),
        SOURCE,
        PERSON,
    ),
    Program("ExponentialMechanism, counts", _chosen, PAIRS, PURE, (1.0,), "docstring of apply(eps, ...)", PERSON),
)
