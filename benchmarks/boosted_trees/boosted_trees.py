"""The experiments of "Private Boosted Decision Trees via Smooth Re-Weighting" (001), beside what it prints.

Adult on its canonical test set, Cod-RNA's training file and Mushroom by 5-fold cross-validation, as the paper has
it; its hyper-parameters (Tables 8 to 10), which nobody was charged for. Means and standard deviations over seeds.
What differs: our bins have public bounds (the authors' code cuts between the smallest and largest value of the
data), Mushroom has 126 features (117 occur), and the weighting is projected in every round (their code leaves it
where it is dense enough, which costs it its smoothness). The paper states the noise η = εκn/(4τ), which is ours at
ε/2; where it matters both are shown. Then the learner that we recommend, and the figures that are asked of Adult.
"""

from collections.abc import Sequence
from functools import cache
from typing import Final

from benchmarks.boosted_trees import adult, recommended
from benchmarks.boosted_trees import boosted_tree_accuracy as accuracy
from benchmarks.boosted_trees import boosted_tree_budgets as budgets
from benchmarks.boosted_trees import boosted_tree_votes as votes
from benchmarks.data import EPSILONS, FOLDS, PAPER, TITLES, Folds, Holdouts, Plan
from benchmarks.data import splits as records
from benchmarks.peers import Few
from benchmarks.runner import Part, Setting, Table
from benchmarks.systems import SYSTEMS, Results

QUICK: Final = (0.1, 1.0)
"""ε of a quick run."""

QUICK_RECORDS: Final = 2_000

COMPARED: Final = (0.05, 0.1, 0.5, 1.0, 5.0)
"""ε at which all systems are compared: some take seconds a fit, and there are five folds."""

FIGURES: Final = (0.1, 0.2, 0.5, 1.0, 3.0, 5.0)
"""ε of Figures 2 and 3."""


@cache
def folds_of(folder: str | None, name: str, most: int) -> Folds:
    """Loaded once for all parts."""
    return Folds(folder, name, most)


@cache
def test_set(folder: str | None, name: str) -> Holdouts:
    """Loaded once for all parts."""
    return Holdouts(folder, name)


def folds(setting: Setting, name: str) -> Folds:
    """Five folds of a data set; of a quick run, one of the five."""
    return folds_of(setting.data, name, 1 if setting.quick else FOLDS)


def paper_protocol(setting: Setting, name: str) -> Plan:
    """Adult by its canonical test set, the others cross-validated, as the paper has it."""
    return test_set(setting.data, name) if name == "adult" else folds(setting, name)


def few(setting: Setting, plan: Plan) -> Plan:
    """The same; of a quick run so many of its records, where all learners are compared."""
    return Few(plan, QUICK_RECORDS) if setting.quick else plan


def everything(name: str, plan: Plan) -> records.Part:
    """The records that the paper counts: Adult's training file, Cod-RNA's, and all of Mushroom."""
    return plan(0)[0].train if name == "adult" else records.whole(plan(0)[0])


def results(setting: Setting, part: str) -> Results:
    """Where a part keeps its measurements: those of learners that are not ours outlive a change of our code."""
    return Results(setting.out / f"measurements-{part}.csv", [system.name for system in SYSTEMS if system.kept])


def table_2(setting: Setting, name: str) -> Part:
    """Accuracy by ε, beside what is printed."""
    epsilons, seeds = (QUICK, 1) if setting.quick else (EPSILONS, 10)

    def make() -> Sequence[Table]:
        kept, plan = results(setting, f"table-2-{name}"), paper_protocol(setting, name)
        return accuracy.table_2(plan, kept, epsilons, seeds, judged=not setting.quick)

    return Part(f"Table 2, {TITLES[name]}", make, 1 if setting.quick else {"cod_rna": 50}.get(name, 8))


def others(setting: Setting, name: str) -> Part:
    """All systems of the registry side by side."""
    epsilons, seeds = (QUICK, 1) if setting.quick else (COMPARED, 3)
    # scikit-learn takes up to half a minute a fit: a quick run has it on the smallest data set only.
    systems = [s for s in SYSTEMS if not (s.needs_delta or (s.kept and setting.quick and name != "mushroom"))]

    def make() -> Sequence[Table]:
        kept = results(setting, f"all-{name}")
        return accuracy.others(systems, few(setting, paper_protocol(setting, name)), kept, epsilons, seeds)

    seconds = {"adult": 35, "cod_rna": 180, "mushroom": 70}[name]
    return Part(f"all systems, {TITLES[name]}", make, 3 if setting.quick else seconds)


def best_setting(setting: Setting) -> Part:
    """What choosing among settings on the folds that are reported is worth."""
    grid, seeds = (accuracy.GRID[::98], 2) if setting.quick else (accuracy.GRID, 5)

    def make() -> Sequence[Table]:
        return [accuracy.best_setting(folds(setting, "mushroom"), grid, seeds)]

    return Part("Table 2, the best setting for Mushroom", make, 1 if setting.quick else 30)


def sparsity(setting: Setting, name: str) -> Part:
    """Tables 3 and 5 to 7."""
    epsilons, runs = (QUICK, 2) if setting.quick else (EPSILONS, 5)

    def make() -> Sequence[Table]:
        return votes.sparsity(name, everything(name, paper_protocol(setting, name)), epsilons, runs)

    return Part(f"{votes.SPARSITY_TABLES[name]}, {TITLES[name]}", make, 1 if setting.quick else 5)


def table_11(setting: Setting, name: str) -> Part:
    """What margins guarantee."""
    seeds, draws = (2, 20) if setting.quick else (10, 200)

    def make() -> Sequence[Table]:
        return [votes.table_11(name, everything(name, paper_protocol(setting, name)), seeds, draws)]

    return Part(f"Table 11, {TITLES[name]}", make, 1 if setting.quick else 3)


def figure_1(setting: Setting, rounds: int) -> Part:
    """How the advantage falls. Its curves and margins also go to CSV files."""

    def make() -> Sequence[Table]:
        part = everything("adult", test_set(setting.data, "adult"))
        return votes.figure_1(part, 2 if setting.quick else 10, rounds, setting.out)

    return Part(f"Figure 1, {rounds} rounds", make, 1 if setting.quick else 4)


def figures_2_and_3(setting: Setting) -> list[Part]:
    """Pure against approximate differential privacy."""
    epsilons, seeds, points = (QUICK, 1, budgets.GRID[::5]) if setting.quick else (FIGURES, 5, budgets.GRID)

    def second() -> Sequence[Table]:
        return [budgets.figure_2(folds(setting, "adult"), results(setting, "figure-2"), epsilons, seeds)]

    def third() -> Sequence[Table]:
        return [budgets.figure_3(folds(setting, "adult"), results(setting, "figure-3"), epsilons, points)]

    return [Part("Figure 2", second, 1 if setting.quick else 30), Part("Figure 3", third, 1 if setting.quick else 60)]


def recommendation(setting: Setting, name: str) -> Part:
    """PrivateBoost beside PrivateGBDT."""
    epsilons, seeds = (QUICK, 1) if setting.quick else (recommended.EPSILONS, 10)

    def make() -> Sequence[Table]:
        kept, plan = results(setting, f"recommended-{name}"), few(setting, test_set(setting.data, name))
        return recommended.beside(plan, kept, epsilons, seeds, judged=not setting.quick)

    return Part(f"recommended learner, {TITLES[name]}", make, 1 if setting.quick else {"cod_rna": 35}.get(name, 15))


def asked_of_adult(setting: Setting) -> Part:
    """The figures that boosted 1-Rules must reach on Adult."""

    def make() -> Sequence[Table]:
        split = test_set(setting.data, "adult")(0)[0]
        return [adult.figures(split, 2 if setting.quick else 20, judged=not setting.quick)]

    return Part("Adult, figures asked", make, 1 if setting.quick else 7)


def parts(setting: Setting) -> list[Part]:
    """The paper's tables and figures in its order, then the recommended learner and the figures asked."""
    return [
        *(table_2(setting, name) for name in PAPER),
        *(others(setting, name) for name in PAPER),
        best_setting(setting),
        *(sparsity(setting, name) for name in PAPER),
        *(table_11(setting, name) for name in PAPER),
        *(figure_1(setting, rounds) for rounds in ((50,) if setting.quick else (250, 500))),
        *figures_2_and_3(setting),
        *(recommendation(setting, name) for name in PAPER),
        asked_of_adult(setting),
    ]
