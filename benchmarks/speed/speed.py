"""The hot paths against the bound of the machine, 100 rounds on Adult beside peers, and up to 10^7 records.

A bound is measured in the same run, in turns: reading the data once, the plain product by BLAS, encoding and hashing
what the books say. Growth with the number of records is shown, and held in proofs_tests by counting, not by a clock.
"""

from functools import partial
from typing import Final

from benchmarks.data import Holdouts, Plan
from benchmarks.ledgers import in_memory
from benchmarks.peers import OURS, PEERS, Entrant, Few, Promise, measured, present
from benchmarks.rados import rado_speed
from benchmarks.random_features import random_feature_speed
from benchmarks.runner import Line, Measured, Part, Report, Setting, Table, at_least
from benchmarks.speed import one_pass, selection, speed_many, speed_rounds

QUICK_RECORDS: Final = 2_000
TEN, THREE = 10.0, 3.0
"""How many times faster than DP-EBM, and than diffprivlib's logistic regression, is asked."""

_OPTIONS = {"rounds": 100, "learning_rate": 0.1, "density": 0.25}
_PROMISE = Promise("one record replaced", "(ε, δ), rounds of bounded range", "", "the number of records")


def _rules(form: str, name: str) -> Entrant:
    settings = {"learner": "1-rules", "form": form, "options": _OPTIONS}
    return Entrant(f"boosted 1-Rules, 100 rounds, {name}", OURS, settings, _PROMISE)


FROM_CODES, FROM_TEXT = _rules("schema", "from codes"), _rules("columns", "from columns of text")


def beside_peers(setting: Setting) -> list[Table]:
    """Fits of 100 rounds beside those of peers, each in a process of its own, in turns, on one core.

    Peers are given what serves them best: DP-EBM public types and bounds, so that it does not look for them; logistic
    regression the Boolean features. All have their data in memory in the form that they take. A fit of ours includes
    the search for its noise scale, which is not kept from one to the next.
    """
    others = [each for each in PEERS if "DP-EBM" in each.name or "logistic" in each.name]
    others = [each for each in others if not each.replaced and not (setting.quick and "0." in each.name)]
    pythons, absent = present(each.peer for each in (FROM_CODES, *others))
    entrants = [each for each in (FROM_CODES, FROM_TEXT, *others) if each.peer in pythons]
    repeats = 1 if setting.quick else 15
    plan: Plan = Holdouts(setting.data, "adult")
    plan = Few(plan, QUICK_RECORDS) if setting.quick else plan
    found = measured({each: pythons[each.peer] for each in entrants}, plan, repeats)
    lines = [Line(each.name, Measured.median(cost.fit, unit="s")) for each, cost in found.items()]
    for each, cost in found.items():
        if each.peer != OURS:
            asked = TEN if "DP-EBM" in each.name else THREE
            for ours in (FROM_CODES, FROM_TEXT):
                ratio = Measured.median(
                    [a / b for a, b in zip(cost.fit, found[ours].fit, strict=True)], unit="×", form=".1f"
                )
                what = f"{each.name} over ours, {ours.name.rsplit(', ', 1)[1]}"
                lines.append(
                    at_least(what, ratio, asked, judged=not setting.quick) if ours is FROM_CODES else Line(what, ratio)
                )
    return [Report(f"Adult, ε = 1, δ = 1e-5: seconds of a fit, medians of {repeats}", (*lines, *absent))]


def parts(setting: Setting) -> list[Part]:
    """Beside peers, rounds against reading, many records, then the other hot paths."""
    quick = setting.quick
    gram = (300, 1000, 1) if quick else (1200, 10_000, 9)
    sizes = (1_000, 10_000) if quick else (1_000, 100_000)
    return [
        Part("Adult beside peers", partial(beside_peers, setting), 6.0 if quick else 45.0),
        Part("additive boosting beside peers", partial(one_pass.beside_peers, setting), 30.0 if quick else 400.0),
        *speed_rounds.parts(setting),
        *speed_many.parts(setting),
        Part("private choice", lambda: selection.tables(quick), 1.0 if quick else 5.0),
        *rado_speed.crafting_parts(setting),
        Part("Gram solve", lambda: [random_feature_speed.gram(*gram, not quick)], 0.5 if quick else 8.0),
        Part("ledger charge", lambda: in_memory(sizes, 11 if quick else 41, False), 1.5 if quick else 8.0),
    ]
