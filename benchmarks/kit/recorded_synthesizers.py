"""SmartNoise's synthesizer MWEM at ε = 1: the histogram that it makes, and what else a fitted one keeps."""

from functools import partial
from typing import Any

from accountant import PureDP
from benchmarks.kit.recorded_cases import Case, cases
from proofs_tests.harness import Pair


def _tables() -> dict[str, Pair[Any]]:
    import pandas as pd

    table = pd.DataFrame({"a": [0, 1, 0, 1, 0, 1, 1, 1], "b": [0, 0, 1, 1, 2, 2, 0, 1]})
    other = table.copy()
    other.loc[7] = [0, 2]
    return {"one replaced": Pair(table, other), "one removed": Pair(table, table.iloc[:-1])}


def _fit(whole: bool, table: Any) -> object:
    from snsynth.mwem import MWEMSynthesizer

    model = MWEMSynthesizer(1.0, iterations=2, q_count=4)
    model.fit(table, categorical_columns=["a", "b"], preprocessor_eps=0.0)
    return model.synthetic_histograms if whole else [made for made, _, _ in model.synthetic_histograms]


def found() -> list[Case]:
    """All of them. Raises ImportError where it is not installed."""
    tables = _tables()
    return [
        *cases("MWEM, its histograms", partial(_fit, False), PureDP(1.0), tables, public_draws=True),
        *cases("MWEM, synthetic_histograms", partial(_fit, True), PureDP(1.0), tables, public_draws=True),
    ]
