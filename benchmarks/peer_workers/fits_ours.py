"""Our classifiers, from codes or from columns as users have them."""

from collections.abc import Callable
from importlib import resources
from typing import Any

import attrs
import numpy as np

from accountant.composition import forget_prices
from benchmarks.peer_workers.serve import Arrays, Floats, Job, serve_fits
from learners import EncodedSample, Layout, LazyBoostClassifier, Numeric, PrivateBoostClassifier, Schema
from learners.base import PrivateClassifier
from learners.encoding import refined
from learners.tables import Values, encode


@attrs.frozen(eq=False)
class Fed:
    """A part in the forms that our learners take: a table with its labels, and codes.

    samples: by "schema", as its bins have it, and by "refined", as `PrivateBoostClassifier` cuts numbers.
    """

    schema: Schema
    table: dict[str, Values]
    labels: Values
    samples: dict[str, EncodedSample]


def load(arrays: Arrays) -> Fed:
    """Encode it. What learns from columns does that again, in its fit."""
    # `exchequer.datasets` would load what nobody needs who learns from columns of his own.
    with resources.as_file(resources.files("exchequer.schemas") / f"{arrays['dataset']}.toml") as path:
        schema = Schema.from_toml(path)
    assert schema.label is not None
    table = {column.name: arrays[f"column:{column.name}"] for column in schema.columns}
    cut = Schema(tuple(refined(c) if isinstance(c, Numeric) else c for c in schema.columns), schema.label)
    signs = arrays["signs"]
    samples = {
        name: EncodedSample(Layout(each), encode(table, each), signs)
        for name, each in (("schema", schema), ("refined", cut))
    }
    return Fed(schema, table, np.asarray(schema.label.classes)[(signs > 0).astype(int)], samples)


def estimator(job: Job, schema: Schema | None) -> PrivateClassifier[Any]:
    """The one that the job names. schema: for what learns from columns."""
    common = {"schema": schema, "random_state": job["seed"], **job["options"]}
    if job["learner"] == "1-rules":
        return LazyBoostClassifier(job["epsilon"], job["delta"], **common)
    return PrivateBoostClassifier(job["epsilon"], job["delta"], **common)


def fit(fed: Fed, job: Job) -> Callable[[Fed], Floats]:
    """From codes, in the form that the job names, or from "columns"."""
    forget_prices()  # a fit looks for its noise scale, and what it priced is not kept for the next
    form = job["form"]
    if form == "columns":
        model = estimator(job, fed.schema).fit(fed.table, fed.labels)
        return lambda other: model.decision_function(other.table)
    found = estimator(job, None).fit_encoded(fed.samples[form]).model_
    return lambda other: np.asarray(found.scores(other.samples[form].codes), dtype=np.float64)


if __name__ == "__main__":
    serve_fits(load, fit, lambda: None)
