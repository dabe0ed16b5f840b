"""What evidence on heads proves of a ledger: that it still has these heads, and when its entries can have been written.

Two inequalities are provable, and no others:

- no later than. Whoever signed head n at time T had it by then: the entries up to n existed at T. Time stamps and
  co-signatures both say so. An entry up to n whose own time is after T has a time that is not true.
- not before. A witness that read the ledger, beginning at time B, and found n to be the end of it: the entries after n
  were written after B. Co-signatures alone say so, as a time stamping authority sees a digest and no ledger: after head
  n was stamped there may have been further entries for long. An entry after n whose own time is before B is back-dated,
  or the witness was shown an old copy of the ledger; neither may be.

Times of entries never go back, which `verify` checks; so the entries at n and at n + 1 speak for all others. Clocks
differ: what is within the tolerance is no finding.
"""

import datetime
import itertools
import json
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Final, Literal, NamedTuple, TypeAlias

import attrs

from accountant.entries import Entry, PublicKey, visible
from accountant.witnesses.evidence_files import EvidenceLine
from accountant.witnesses.head_evidence import BadEvidence, CoSignature, Evidence, Head, KeptHead, TimeStamp
from accountant.witnesses.time_stamps import check_time_stamp

if TYPE_CHECKING:
    from cryptography.x509 import Certificate

TOLERANCE: Final = 300 * 10**9
"""Nanoseconds by which clocks may differ without a finding."""

MOST_BOUNDS: Final = 3
"""Of each kind that notes spell out: the newest; all of them are in `Examination.proved`."""

Trusted: TypeAlias = Literal["proved", "not checked", "wrong"]


@attrs.frozen
class Trust:
    """Whom an auditor trusts. witnesses: their public keys.  roots: certificates of time stamping authorities.

    tolerance: nanoseconds by which clocks may differ.  Evidence of a kind nobody is trusted for is not checked.
    """

    witnesses: tuple[PublicKey, ...] = ()
    roots: "tuple[Certificate, ...]" = ()
    tolerance: int = TOLERANCE


@attrs.frozen
class Finding:
    """One piece of evidence, examined.

    place: where it stands.  kind: "kept", "time-stamp" or "co-signature".  head: what it is on.
    trusted: "wrong" where it does not hold, or the ledger does not have this head.  why: what is wrong.
    by: who signed it, "" for a kept head.
    latest: the entries up to the head existed by then; None where it says nothing of time, or does not hold.
    earliest: the entries after the head were written after that.  Both in nanoseconds since 1970.
    """

    place: str
    kind: str
    head: Head
    trusted: Trusted
    why: str = ""
    by: str = ""
    latest: int | None = None
    earliest: int | None = None

    def as_dict(self) -> dict[str, object]:
        """For JSON."""
        return {**attrs.asdict(self, filter=attrs.filters.exclude("head")), **self.head.as_dict()}


@attrs.frozen
class Examination:
    """What all evidence together says of a ledger; errors, caveats and notes as a verification has them.

    findings: each piece of evidence on this ledger.
    """

    errors: tuple[str, ...]
    caveats: tuple[str, ...]
    notes: tuple[str, ...]
    findings: tuple[Finding, ...]

    @property
    def proved(self) -> list[Finding]:
        """Evidence that holds, on heads that the ledger has."""
        return [each for each in self.findings if each.trusted == "proved"]

    def no_later_than(self, number: int) -> int | None:
        """The earliest time by which this entry is proved to have existed; None where nothing is proved."""
        return min((each.latest for each in self.proved if each.latest and each.head.number >= number), default=None)

    def not_before(self, number: int) -> int | None:
        """The latest time before which this entry is proved not to have existed; None where nothing is proved."""
        return max((each.earliest for each in self.proved if each.earliest and each.head.number < number), default=None)


class _Seen(NamedTuple):
    digest: str
    time: int | None


class EvidenceExaminer:
    """Compares evidence with a ledger in the pass in which that is verified, and only then says what it found."""

    def __init__(self, lines: Iterable[EvidenceLine], trust: Trust) -> None:
        self._trust = trust
        self._errors: list[str] = []
        self._evidence: list[tuple[str, Evidence]] = []
        for line in lines:
            if isinstance(line.found, BadEvidence):
                self._errors.append(f"{line.place}: {line.found}")
            else:
                self._evidence.append((line.place, line.found))
        numbers = {each.head.number for _, each in self._evidence}
        self._wanted = numbers | {number + 1 for number in numbers}
        self._seen: dict[int, _Seen] = {}
        self._id: str | None = None
        self._newest = -1

    def watch(self, entries: Iterable[Entry]) -> Iterator[Entry]:
        """The same entries; those that evidence is on are kept as they pass by. Digests are for `verify` to check."""
        for entry in entries:
            self._newest = entry.number
            if entry.number in self._wanted or not entry.number:
                self._keep(entry)
            yield entry

    def _keep(self, entry: Entry) -> None:
        try:
            record = json.loads(entry.line)
            time = record.get("time")
            if not entry.number:
                self._id = str(record.get("id"))
        except (TypeError, ValueError, AttributeError, RecursionError):
            time = None  # `verify` says what is wrong with it
        self._seen[entry.number] = _Seen(entry.digest, time if type(time) is int else None)

    # --- what came of it ----------------------------------------------------------------------------------

    def examination(self) -> Examination:
        """After the last entry."""
        mine = [(place, each) for place, each in self._evidence if each.head.ledger == self._id]
        findings = tuple(self._examined(place, each) for place, each in mine)
        wrong = [each for each in findings if each.trusted == "wrong"]
        errors = [*self._errors, *(f"{each.place}: {each.why}" for each in wrong)]
        if not mine:
            errors.append("there is no evidence on this ledger: it has another id, or was never witnessed")
        proved = [each for each in findings if each.trusted == "proved"]
        errors += self._out_of_time(proved)
        errors += contradictions(proved, self._trust.tolerance)
        signed = {each.place for each in proved}
        statements = [(place, each) for place, each in mine if isinstance(each, CoSignature) and place in signed]
        chain = list(_chained(statements))
        errors += [text for wrong, text in chain if wrong]
        notes = [text for wrong, text in chain if not wrong]
        return Examination(
            tuple(map(visible, errors)),
            tuple(self._unchecked(findings)),
            tuple(map(visible, [*notes, *self._notes(proved, len(self._evidence) - len(mine))])),
            findings,
        )

    def _examined(self, place: str, evidence: Evidence) -> Finding:
        kind, head = str(evidence.as_dict()["evidence"]), evidence.head
        found = Finding(place, kind, head, "proved")
        seen = self._seen.get(head.number)
        if seen is None:
            why = f"it is on entry {head.number}, and the ledger ends before: cut off, or rolled back"
            return attrs.evolve(found, trusted="wrong", why=why)
        if seen.digest != head.digest:
            why = f"the ledger has another entry {head.number} than the one that it is on: rewritten, or forked"
            return attrs.evolve(found, trusted="wrong", why=why)
        try:
            return self._held(found, evidence)
        except BadEvidence as error:
            return attrs.evolve(found, trusted="wrong", why=str(error))

    def _held(self, found: Finding, evidence: Evidence) -> Finding:
        """The finding for a head that the ledger has. Raises BadEvidence."""
        match evidence:
            case KeptHead():
                return found
            case TimeStamp():
                if not self._trust.roots:
                    return attrs.evolve(found, trusted="not checked")
                stamped = check_time_stamp(evidence, self._trust.roots)
                return attrs.evolve(found, by=stamped.authority, latest=stamped.latest)
            case CoSignature(key=key):
                if not self._trust.witnesses:
                    return attrs.evolve(found, trusted="not checked", by=key)
                witness = next((each for each in self._trust.witnesses if each.hex == key), None)
                if witness is None:
                    raise BadEvidence(f"it is signed by {key}, which is not the key of a witness that you named")
                if not witness.signed(evidence.message, bytes.fromhex(evidence.signature)):
                    raise BadEvidence("the witness's signature is forged")
                return attrs.evolve(found, by=key, latest=evidence.time, earliest=evidence.begun)

    def _out_of_time(self, proved: Sequence[Finding]) -> Iterator[str]:
        """Entries whose own time cannot be true."""
        tolerance = self._trust.tolerance
        for each in proved:
            number = each.head.number
            own, following = (self._seen.get(place, _Seen("", None)).time for place in (number, number + 1))
            if each.latest is not None and own is not None and own > each.latest + tolerance:
                yield (
                    f"{each.place}: entry {number} says that it was written at {moment(own)}, and existed by "
                    f"{moment(each.latest)}: the writer's clock was ahead, or the entry was dated later"
                )
            if each.earliest is not None and following is not None and following < each.earliest - tolerance:
                yield (
                    f"{each.place}: entry {number + 1} says that it was written at {moment(following)}, and a witness "
                    f"saw the ledger end before it at {moment(each.earliest)}: it is back-dated, or the witness was "
                    "shown an old copy"
                )

    def _unchecked(self, findings: Sequence[Finding]) -> Iterator[str]:
        for kind, remedy in (("time-stamp", "--authority-root"), ("co-signature", "--witness-key")):
            many = sum(each.trusted == "not checked" and each.kind == kind for each in findings)
            if many:
                yield f"evidence that was not checked, and proves nothing: {many} of the kind {kind}; give {remedy}"

    def _notes(self, proved: Sequence[Finding], others: int) -> Iterator[str]:
        latest = [each for each in proved if each.latest is not None]
        for each in _tightest(latest)[-MOST_BOUNDS:]:
            yield f"entries up to {each.head.number} existed by {moment(each.latest or 0)}: {each.kind} by {each.by}"
        earliest = sorted((each for each in proved if each.earliest is not None), key=lambda each: each.head.number)
        for each in earliest[-MOST_BOUNDS:]:
            if each.head.number + 1 in self._seen:
                after = f"entries after {each.head.number} were written after {moment(each.earliest or 0)}"
                yield f"{after}, if the witness was shown the ledger itself: co-signature by {each.by}"
        kept = [each.head.number for each in proved if each.kind == "kept"]
        if kept:
            yield f"kept heads that the ledger has: {len(kept)}, the newest is that of entry {max(kept)}"
        covered = max((each.head.number for each in proved), default=-1)
        if covered < self._newest:
            which = "all of them" if covered < 0 else f"those after entry {covered}"
            yield f"entries that no evidence covers, {which}: {self._newest - covered}"
        if others:
            yield f"pieces of evidence on other ledgers: {others}"


def contradictions(proved: Sequence[Finding], tolerance: int) -> Iterator[str]:
    """Evidence that cannot all be true: a ledger that ended before an entry which existed already."""
    first: Finding | None = None  # of what is on later heads, what existed first
    order = sorted(proved, key=lambda each: each.head.number, reverse=True)
    for _, same in itertools.groupby(order, key=lambda each: each.head.number):
        here = list(same)
        for ended in here:
            if first is None or first.latest is None or ended.earliest is None:
                continue
            if first.latest + tolerance < ended.earliest:
                yield (
                    f"{ended.place}: the witness saw the ledger end with entry {ended.head.number} at "
                    f"{moment(ended.earliest)}, and entry {first.head.number} existed by {moment(first.latest)} "
                    f"({first.place}): it was shown an old copy, or a clock is wrong"
                )
        dated = [each for each in [first, *here] if each is not None and each.latest is not None]
        first = min(dated, key=lambda each: each.latest or 0, default=None)


def _tightest(latest: Sequence[Finding]) -> list[Finding]:
    """Those that say something which none of the others says: a later head at an earlier time says more."""
    kept: list[Finding] = []
    for each in sorted(latest, key=lambda each: (-each.head.number, each.latest or 0)):
        if not kept or (each.latest or 0) < (kept[-1].latest or 0):
            kept.append(each)
    return kept[::-1]


def _chained(statements: Sequence[tuple[str, CoSignature]]) -> Iterator[tuple[bool, str]]:
    """What is wrong (True) with the chain of each witness's statements, and what is missing in it (False)."""
    by_key: dict[str, dict[int, tuple[str, CoSignature]]] = {}
    for place, each in statements:
        known = by_key.setdefault(each.key, {})
        if each.sequence in known and known[each.sequence][1] != each:
            other = known[each.sequence][0]
            yield True, f"{place}: the witness signed two statements of number {each.sequence}, see {other}: {_BACK}"
        known.setdefault(each.sequence, (place, each))
    for known in by_key.values():
        order = sorted(known)
        if order[0] or len(order) != order[-1] - order[0] + 1:
            yield False, f"of the witness's statements 0 to {order[-1]}, {order[-1] + 1 - len(order)} are not here"
        for left, right in itertools.pairwise(order):
            (_, before), (place, after) = known[left], known[right]
            if right == left + 1 and (after.previous, after.previous_number, after.previous_head) != (
                before.digest,
                before.head.number,
                before.head.digest,
            ):
                yield True, f"{place}: it does not follow the witness's statement {left}: {_BACK}"
            elif after.head.number < before.head.number or after.begun < before.time:
                yield True, f"{place}: it goes back behind the witness's statement {left}: {_BACK}"


_BACK: Final = "the witness's memory was rolled back, or somebody else has its key"


def moment(time: int) -> str:
    """Nanoseconds since 1970 as people write it, in UTC, without fractions of a second."""
    try:
        return datetime.datetime.fromtimestamp(time // 10**9, datetime.UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
    except (OverflowError, ValueError, OSError):
        return f"{time} ns after 1970"
