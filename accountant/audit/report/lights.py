"""The traffic lights of a report: what was checked, what came of it, and what nobody checked.

A light is green only where somebody really looked and nothing speaks against it. Where nobody looked it is grey and
says so. All of them come from `lights`, of `LightFacts` alone.
"""

import enum
import math
from collections.abc import Iterable, Iterator
from typing import Final, Literal, TypeAlias

import attrs

from accountant.audit import Verdict


class Tone(enum.IntEnum):
    """How good it looks, the best first; a summary is as good as the worst of its parts."""

    GOOD = 0
    UNCHECKED = 1
    WARN = 2
    BAD = 3

    @property
    def style(self) -> str:
        """Its class in the style sheet."""
        return self.name.lower()

    @property
    def symbol(self) -> str:
        """For those who do not tell the colours apart."""
        return _SYMBOLS[self]


_SYMBOLS: Final = {Tone.GOOD: "✔", Tone.UNCHECKED: "?", Tone.WARN: "!", Tone.BAD: "✘"}

NEARLY: Final = 0.9
"""The share of a budget from which on it is nearly used up."""

WEAK: Final = 0.99
"""The chance of a right guess between two neighbours from which on a promise is weak: ε = 4.6 at δ = 0."""

_MOST: Final = 1e6
"""Times a budget that are told apart."""

SecondWord: TypeAlias = Literal["not asked", "agrees", "agrees in part", "disagrees"]
HeadWord: TypeAlias = Literal["not given", "found", "not found"]
ClaimsWord: TypeAlias = Literal["no registry", "all known", "some unknown"]


@attrs.frozen
class LightFacts:
    """Everything that the lights depend on.

    verdict: of `verify`.  errors: how many it found.  unreadable: entries that this report could not take in.
    promises: whether there is a budget that bounds anything.  guess: the best chance to tell two neighbours apart that
    were equally likely before, by what is spent so far.  used: the share of the whole budget, 1 is all of it.
    fullest: the share of the open sub-budget that is used up most; 0 without any.  fullest_name: what it is called.
    charges, waiting: how many there are, and how many of them are without a release.
    drawn: whether any noise was drawn or announced.  simulated: whether any was a simulation.
    silent: open charges that announced no noise.  foreign: noise sources that are not this library's.
    second: what another accountant said.  head: whether the digest that the auditor kept is among the entries.
    witness: what a witness says of the head, if one was asked; witness_agrees: whether it speaks for the ledger.
    claims: what the registry knows of the results that costs depend on.  on_trust: what is taken at somebody's word.
    """

    verdict: Verdict
    errors: int
    unreadable: int
    promises: bool
    guess: float
    used: float
    fullest: float
    fullest_name: str
    charges: int
    waiting: int
    drawn: bool
    simulated: bool
    silent: int
    foreign: tuple[str, ...]
    second: SecondWord
    head: HeadWord
    claims: ClaimsWord
    on_trust: tuple[str, ...] = ()
    witness: str = ""
    witness_agrees: bool = False

    @property
    def sound(self) -> bool:
        """Whether the entries add up, so that sums may be believed."""
        return self.verdict in ("sound", "with caveats") and not self.errors and not self.unreadable

    @property
    def contradicted(self) -> bool:
        """Whether anything speaks against what the entries say, though they add up."""
        exceeded = self.used > 1.0 or self.fullest > 1.0
        unwitnessed = self.head == "not found" or bool(self.witness and not self.witness_agrees)
        return exceeded or unwitnessed or self.second == "disagrees" or self.claims == "some unknown"

    @property
    def doubtful(self) -> bool:
        """Whether what the entries say may be false."""
        return not self.sound or self.contradicted

    @property
    def holds(self) -> bool:
        """Whether anything is promised, if only on conditions."""
        return self.promises and not self.simulated and not self.doubtful

    @property
    def conditions(self) -> tuple[str, ...]:
        """What has to be true beside, and nobody checked; the rest of a sentence that begins with if."""
        return tuple(
            said
            for said, needed in (
                ("the open charges draw secure noise", self.silent > 0),
                ("noise from outside of this library is secure", bool(self.foreign)),
                ("what is taken at somebody's word is true", bool(self.on_trust)),
            )
            if needed
        )


@attrs.frozen
class Light:
    """One of them. name: what it is about.  word: what it shows, in a word or two.  text: why, in a sentence."""

    name: str
    tone: Tone
    word: str
    text: str


def worst(tones: Iterable[Tone]) -> Tone:
    """The worst of them; not checked where there are none."""
    return max(tones, default=Tone.UNCHECKED)


def lights(facts: LightFacts) -> tuple[Light, ...]:
    """All of them. Of entries that do not add up, or are contradicted, none is green: they may say what is false."""
    found = (
        _integrity(facts),
        _promise(facts),
        _left(facts),
        _noise(facts),
        _open(facts),
        _outside(facts),
        _second(facts),
        _proofs(facts),
    )
    return tuple(map(_doubted, found)) if facts.doubtful else found


def _doubted(light: Light) -> Light:
    if light.tone is not Tone.GOOD:
        return light
    return Light(light.name, Tone.UNCHECKED, "not known", "What the entries say is in doubt, so nobody can say.")


def _integrity(facts: LightFacts) -> Light:
    name = "Entries"
    if facts.verdict == "not sound" or facts.errors:
        return Light(name, Tone.BAD, "not sound", "Verification found what must not be; nothing here is guaranteed.")
    if facts.verdict == "cannot be checked":
        return Light(name, Tone.BAD, "cannot be checked", "The rule that adds up costs is not installed here.")
    if facts.unreadable:
        return Light(name, Tone.BAD, "not all read", f"{facts.unreadable:,} entries could not be taken in.")
    if facts.verdict == "with caveats":
        return Light(
            name, Tone.WARN, "add up, with caveats", "All digests and sums fit; see the lights that are not green."
        )
    return Light(name, Tone.GOOD, "sound", "Every digest fits the one before it, and every sum was recomputed exactly.")


def _promise(facts: LightFacts) -> Light:
    name = "Promise"
    if not facts.promises:
        return Light(name, Tone.BAD, "none", "Nothing is promised: releases may tell everything about anybody.")
    if not facts.sound:
        return Light(name, Tone.BAD, "none", "Entries that do not hold together promise nothing.")
    if facts.simulated:
        return Light(name, Tone.BAD, "none", "Simulated noise protects nobody.")
    if facts.contradicted:
        return Light(
            name, Tone.BAD, "contradicted", "Something that it depends on is contradicted; see the other lights."
        )
    if facts.conditions:
        return Light(name, Tone.WARN, "on a condition", f"It holds if {' and '.join(facts.conditions)}.")
    if not facts.guess < WEAK:
        return Light(name, Tone.WARN, "weak", "So much is spent that a guess may be right almost always.")
    return Light(name, Tone.GOOD, "in force", "What is spent so far bounds what can be learnt about any one record.")


def _left(facts: LightFacts) -> Light:
    name = "Budget"
    if not facts.promises:
        return Light(name, Tone.BAD, "no limit", "The budget is unbounded, so it stops nothing.")
    if facts.used > 1.0 or facts.fullest > 1.0:
        return Light(name, Tone.BAD, "exceeded", "More was spent than a budget allows.")
    if facts.used >= 1.0:
        return Light(name, Tone.BAD, "used up", "Nothing of the whole budget is left.")
    if facts.used >= NEARLY:
        return Light(name, Tone.WARN, "nearly used up", f"{left_percent(facts.used)} of the whole budget is left.")
    whole = f"{left_percent(facts.used)} of the whole budget is left"
    if facts.fullest >= NEARLY:
        rest = f"{left_percent(facts.fullest)} of the budget of {facts.fullest_name}"
        return Light(name, Tone.WARN, "one is nearly used up", f"{whole}, but only {rest}.")
    return Light(name, Tone.GOOD, "enough left", f"{whole}.")


def _noise(facts: LightFacts) -> Light:
    name = "Noise"
    if facts.simulated:
        return Light(name, Tone.BAD, "simulated", "Some noise came from a seed. Whoever knows it can undo the noise.")
    if facts.silent:
        several = "1 open charge does" if facts.silent == 1 else f"{facts.silent:,} open charges do"
        return Light(name, Tone.WARN, "not known yet", f"{several} not say what noise it will be.")
    if facts.foreign:
        several = "One source is" if len(facts.foreign) == 1 else f"{len(facts.foreign):,} sources are"
        return Light(
            name, Tone.WARN, "at its owner's word", f"{several} not of this library: nobody here vouches for it."
        )
    if not facts.drawn:
        return Light(name, Tone.UNCHECKED, "not checked", "Nothing was drawn yet.")
    return Light(name, Tone.GOOD, "secure", "Every entry names a secure source; none is a simulation.")


def _open(facts: LightFacts) -> Light:
    name = "Open charges"
    if facts.waiting:
        several = "1 charge is" if facts.waiting == 1 else f"{facts.waiting:,} charges are"
        return Light(
            name, Tone.WARN, f"{facts.waiting:,} open", f"{several} without a release so far; that counts as spent."
        )
    if not facts.charges:
        return Light(name, Tone.UNCHECKED, "no charges", "Nothing was charged yet.")
    return Light(name, Tone.GOOD, "none", "Every charge was followed by its release, or given back.")


def _outside(facts: LightFacts) -> Light:
    name = "Kept head or witness"
    if facts.head == "not found":
        return Light(name, Tone.BAD, "not found", "The head that was kept is not confirmed by these entries.")
    if facts.witness and not facts.witness_agrees:
        return Light(name, Tone.BAD, "contradicted", facts.witness)
    if facts.witness:
        return Light(name, Tone.GOOD, "confirmed", facts.witness)
    if facts.head == "found":
        return Light(name, Tone.GOOD, "found", "The head that was kept elsewhere is among these entries.")
    return Light(
        name,
        Tone.UNCHECKED,
        "not checked",
        "Nobody gave a head that was kept elsewhere: a ledger that was cut or rewritten whole would not be noticed.",
    )


def _second(facts: LightFacts) -> Light:
    name = "Second opinion"
    match facts.second:
        case "disagrees":
            return Light(name, Tone.BAD, "disagrees", "Another accountant comes to another result.")
        case "agrees in part":
            return Light(
                name, Tone.WARN, "agrees in part", "Another accountant agrees, but could not check everything."
            )
        case "agrees":
            return Light(name, Tone.GOOD, "agrees", "Another accountant added up the same entries, and agrees.")
        case "not asked":
            return Light(name, Tone.UNCHECKED, "not checked", "No other accountant was asked.")


def _proofs(facts: LightFacts) -> Light:
    name = "Proofs behind the costs"
    if facts.claims == "some unknown":
        return Light(name, Tone.BAD, "some unknown", "A cost depends on a claim that this version does not know.")
    if facts.on_trust:
        return Light(name, Tone.WARN, "in part on trust", f"Taken at somebody's word: {facts.on_trust[0]}.")
    if facts.claims == "no registry":
        return Light(name, Tone.UNCHECKED, "not checked", "No registry of claims was at hand.")
    return Light(name, Tone.GOOD, "known", "Every cost depends on claims in the registry of this version.")


@attrs.frozen
class Headline:
    """All lights in one line. tone: the worst of them.  counts: how many of each, in words, the worst first."""

    tone: Tone
    text: str
    counts: tuple[tuple[Tone, str], ...]


def headline(shown: tuple[Light, ...]) -> Headline:
    """Never better than the worst light."""
    tone = worst(light.tone for light in shown)
    return Headline(tone, _HEADLINES[tone], tuple(_counts(shown)))


_HEADLINES: Final = {
    Tone.GOOD: "All checks were made, and nothing speaks against this ledger",
    Tone.UNCHECKED: "No problem was found, but not everything was checked",
    Tone.WARN: "There is something to know before these numbers are relied on",
    Tone.BAD: "Do not rely on this ledger as it stands",
}

_COUNTED: Final = {Tone.BAD: "in alarm", Tone.WARN: "to be noted", Tone.UNCHECKED: "not checked", Tone.GOOD: "in order"}


def _counts(shown: tuple[Light, ...]) -> Iterator[tuple[Tone, str]]:
    for tone in sorted(Tone, reverse=True):
        if number := sum(light.tone is tone for light in shown):
            yield tone, f"{number} {_COUNTED[tone]}"


def used_percent(share: float) -> str:
    """A share that is used, in per cent, rounded up."""
    return f"{_tenths(share) / 10:.1f} %"


def left_percent(share: float) -> str:
    """What is left beside a share that is used, in per cent: with it exactly 100 as both are shown, and never more."""
    return f"{max(1000 - _tenths(share), 0) / 10:.1f} %"


def _tenths(share: float) -> int:
    """Tenths of a per cent, rounded up; what stands for a round number up to 1e-10 reads as that."""
    up = math.ceil(min(share, _MOST) * 1e3 - 1e-7)
    return max(up, 1) if share > 0.0 else 0
