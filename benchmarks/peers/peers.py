"""Ours beside diffprivlib, interpret's DP-EBM, OpenDP and dp-accounting: same splits, same (ε, δ), one run.

Adult and Cod-RNA on their canonical test sets, Mushroom on a fifth held out at random by each seed. δ = 1e-5. Each peer
runs by an interpreter that has it, in a process of its own, with one core; all are asked in turns where times are
compared. What is measured of a peer's accuracy is kept, and not measured again by a later run.

What the peers promise, by our reading of their code (diffprivlib 0.6.6, interpret 0.7.8, OpenDP 0.16.0):
- diffprivlib's objective perturbation claims ε under replacing a record, and leaves δ unused. It is given our
  Boolean features, whose norm R = √columns is public. Its claim is taken at its word here: it corrects ε by
  2·ln(1 + R·C/4) where the proof of Chaudhuri et al., scaled to norm R, asks for 2·ln(1 + R²·C/4), and its intercept
  is not regularised, which that proof does not cover either.
- Its Gaussian naive Bayes and its random forest take their noise for one record more or less in one class, or in one
  leaf, and use the number of records as it is: class counts are made to add up to it, and it says which tree a record
  goes to. The forest gets classes 0 and 1, as it counts nothing for any others.
- DP-EBM's noise is for one record more or less, though the number of records is used as it is; a record replaced can
  move its sums twice as far. One row runs it with the ε that hides that. It is given public bounds and types, and still
  reads from the data, uncharged, which categories occur.
- OpenDP has no classifier. Its row is what one builds from it: naive Bayes on a noisy histogram per column and label,
  one measurement whose map, at one record more or less, says (ε, δ). It takes no seed.
Hyper-parameters: the defaults, and one setting that did better (C = 0.01; 30 trees, shuffled; learning rate 0.1: at its
default 0.01 the 300 rounds do not get far). Ours are as the registry says. Nobody was charged for choosing.

Accounting: none of the charges samples anything. Plans are priced at δ = 1e-5; dp-accounting's privacy-loss
distributions are what the others' ε are held against.
"""

from typing import Final

from benchmarks.data import PAPER, TITLES, Holdouts, Plan
from benchmarks.peers.peer_accounting import accounting
from benchmarks.peers.peer_costs import costs
from benchmarks.peers.peer_data import Few
from benchmarks.peers.peer_environments import PINS, present
from benchmarks.peers.peer_quality import Size, quality
from benchmarks.peers.peer_systems import ALL_CODE, ENTRANTS, ONE_EACH, promises
from benchmarks.runner import Line, Part, Report, Setting, Table

FULL: Final = Size(ENTRANTS, (0.05, 0.1, 0.2, 0.5, 1.0, 3.0), 10, judged=True)
QUICK: Final = Size(ALL_CODE, (1.0,), 1, judged=False)
QUICK_RECORDS: Final = 1_000

REPEATS: Final = 5
QUICK_REPEATS: Final = 1
ROUNDS: Final = (100, 1_000, 10_000)
QUICK_ROUNDS: Final = (5, 20)


def environments() -> list[Table]:
    """Make what is not there, and say what everybody runs by."""
    pythons, absent = present(PINS)
    return [Report("packages of the peers", [*(Line(peer, ", ".join(PINS[peer])) for peer in pythons), *absent])]


def of_data(setting: Setting, name: str) -> list[Part]:
    """Quality, then time and memory, on a data set."""
    quick = setting.quick
    size = QUICK if quick else FULL
    timed, repeats = (ONE_EACH, QUICK_REPEATS) if quick else (ENTRANTS, REPEATS)

    def plan() -> Plan:
        whole = Holdouts(setting.data, name)
        return Few(whole, QUICK_RECORDS) if quick else whole

    def qualities() -> list[Table]:
        return quality(plan(), size, setting.out / "measured")

    return [
        Part(f"{TITLES[name]}: quality", qualities, 10 if quick else 140),
        Part(f"{TITLES[name]}: costs", lambda: costs(plan(), timed, repeats), 12 if quick else 50),
    ]


def parts(setting: Setting) -> list[Part]:
    """Packages and promises, then each data set, then accounting."""
    quick = setting.quick
    rounds, repeats = (QUICK_ROUNDS, QUICK_REPEATS) if quick else (ROUNDS, REPEATS)
    return [
        Part("packages", environments, 60),
        Part("promises", lambda: [promises()]),
        *(part for name in (PAPER[:1] if quick else PAPER) for part in of_data(setting, name)),
        Part("accounting", lambda: accounting(rounds, repeats), 12 if quick else 70),
    ]
