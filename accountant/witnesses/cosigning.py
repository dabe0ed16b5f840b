"""A witness: somebody else, with a key and a small memory, who signs heads of ledgers that it has seen grow.

It signs a head only if that extends the last head that it signed for this ledger: it reads from that entry on, computes
every digest anew, and refuses where the ledger was cut off, rewritten or forked. It keeps what it was shown as proof.
What the entries say and whether they add up is not its business; `exchequer ledger verify` is for that.

The memory is one file. It is written before a signature is given out, and signed with the same key, so that it cannot
be changed. That an older copy was put back, the memory alone cannot tell: then two statements have one sequence number,
and whoever holds both sees it. `Witness.recall` shows a witness the statements that are out.
"""

import contextlib
import json
import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Final, TypeAlias, cast

import attrs

from accountant.canonical_json import canonical
from accountant.entries import (
    GENESIS,
    Entry,
    PublicKey,
    SigningKey,
    digest_of,
    follows,
    hexadecimal,
    whole_file,
)
from accountant.explained import Explained
from accountant.witnesses.evidence_files import sync_folder
from accountant.witnesses.head_evidence import BadEvidence, CoSignature, Evidence, Head, evidence_from_dict

MEMORY_DOMAIN: Final = b"exchequer witness memory 1\n"
FORMAT: Final = 1
MOST_REFUSALS: Final = 20
"""Proofs that are kept; of more, the newest."""

LONGEST_SHOWN: Final = 1 << 16
"""Characters of an entry that is kept as proof; of a longer one, its digest alone."""

Read: TypeAlias = Callable[[int], Iterator[Entry]]
"""The entries of a ledger from a number on."""


class WitnessRefuses(Explained, ValueError):
    """The ledger does not extend what this witness signed before. proof: what was signed, and what was shown."""

    def __init__(self, reason: str, proof: Mapping[str, object]) -> None:
        super().__init__(reason)
        self.proof = proof


@attrs.define
class Memory:
    """What a witness remembers. signed: its last statement on each ledger, by the ledger's id.  refused: proofs."""

    signed: dict[str, CoSignature] = attrs.field(factory=dict)
    refused: list[Mapping[str, object]] = attrs.field(factory=list)

    def as_dict(self, key: PublicKey) -> dict[str, object]:
        """For JSON, without a signature."""
        signed = [statement.as_dict() for statement in self.signed.values()]
        return {"format": FORMAT, "key": key.hex, "refused": [dict(each) for each in self.refused], "signed": signed}


class Witness:
    """A witness with its key. memory: the path of its file, which is made with its first signature.

    Use it as a context manager: nobody else may use the memory meanwhile.
    """

    def __init__(self, key: SigningKey, memory: str | Path) -> None:
        self.key, self.path = key, Path(memory)
        self._memory = Memory()

    def __enter__(self) -> "Witness":
        """Raises BadEvidence where the memory was changed or is another witness's; OSError, BlockingIOError."""
        self._lock = _locked(self.path.with_name(f"{self.path.name}.lock"))
        try:
            self._memory = _remembered(self.path, self.key.public)
        except BaseException:
            os.close(self._lock)
            raise
        return self

    def __exit__(self, *raised: object) -> None:
        os.close(self._lock)

    @property
    def refused(self) -> tuple[Mapping[str, object], ...]:
        """The proofs of what it refused, oldest first."""
        return tuple(self._memory.refused)

    def recall(self, evidence: Iterable[Evidence]) -> None:
        """Look at statements that are out. Raises BadEvidence for one of its own that its memory has forgotten."""
        for each in evidence:
            if not isinstance(each, CoSignature) or each.key != self.key.public.hex:
                continue
            last = self._memory.signed.get(each.head.ledger)
            if not self.key.public.signed(each.message, bytes.fromhex(each.signature)):
                continue  # a forgery, which is for `verify` to find
            if last is None or each.sequence > last.sequence or (each.sequence == last.sequence and each != last):
                known = "none" if last is None else f"number {last.sequence}"
                raise BadEvidence(
                    f"this witness signed statement {each.sequence} on the ledger {each.head.ledger}, and its memory "
                    f"knows of {known}: an older copy of the memory was put back"
                )

    def sign(self, read: Read, *, begun: int) -> CoSignature:
        """Sign the ledger's head, and remember that.

        read: the entries from a number on, up to the newest.  begun: nanoseconds since 1970, by this witness's clock,
        of a moment before anybody looked at the ledger or at its length.
        Raises WitnessRefuses where the ledger does not extend what was signed, ValueError where there is none or this
        witness's clock went back, and what reading raises.
        """
        ledger = _id_of(read)
        last = self._memory.signed.get(ledger)
        now = time.time_ns()
        if begun > now or (last is not None and begun < last.time):
            raise ValueError("this machine's clock went back since this witness's last signature; nothing was signed")
        try:
            head = _grown(read, ledger, last)
        except WitnessRefuses as refusal:
            proof = {"ledger": ledger, "reason": str(refusal), "time": now, **refusal.proof}
            self._memory.refused = [*self._memory.refused, proof][-MOST_REFUSALS:]
            self._remember()
            raise WitnessRefuses(str(refusal), proof) from None
        statement = self._statement(head, last, begun)
        self._memory.signed[ledger] = statement
        self._remember()  # first: a signature that is out and forgotten could be followed by another of its number
        return statement

    def _statement(self, head: Head, last: CoSignature | None, begun: int) -> CoSignature:
        plain = CoSignature(
            head=head,
            sequence=0 if last is None else last.sequence + 1,
            previous=GENESIS if last is None else last.digest,
            previous_number=None if last is None else last.head.number,
            previous_head=GENESIS if last is None else last.head.digest,
            begun=begun,
            time=max(time.time_ns(), begun),
            key=self.key.public.hex,
        )
        return attrs.evolve(plain, signature=self.key.sign(plain.message).hex())

    def _remember(self) -> None:
        parts = self._memory.as_dict(self.key.public)
        signature = self.key.sign(MEMORY_DOMAIN + canonical(parts).encode("ascii")).hex()
        with whole_file(self.path) as out:
            out.write(f"{canonical({**parts, 'signature': signature})}\n")
        sync_folder(self.path)


# --- reading a ledger ------------------------------------------------------------------------------------------


def _id_of(read: Read) -> str:
    return _id_in(next(iter(read(0)), None))


def _id_in(first: Entry | None) -> str:
    """As it stands there: whoever witnesses a ledger needs no rule of composition that it may name."""
    try:
        opened = {} if first is None else json.loads(first.line)
        if opened["kind"] == "opened" and isinstance(opened["id"], str) and opened["id"]:
            return str(opened["id"])
    except (KeyError, TypeError, ValueError, RecursionError):
        pass
    raise ValueError("this is no ledger: it was never opened")


def newest_head(read: Read) -> Head:
    """The head of a ledger, every digest computed anew. Raises WitnessRefuses where one does not fit; ValueError."""
    return _grown(read, _id_of(read), None)


def _grown(read: Read, ledger: str, last: CoSignature | None) -> Head:
    """The newest head, if everything fits from the last one on. Raises WitnessRefuses."""
    start = 0 if last is None else last.head.number
    number, head = start - 1, GENESIS
    for entry in read(max(start - 1, 0)):
        if entry.number == start - 1:  # what its line says, the signed head covers
            head = entry.digest
            continue
        number += 1
        if entry.number != number or not follows(head, entry.line, entry.digest):
            raise _refusal(f"entry {number} is missing, or its digest does not fit", last, entry, head)
        if number == 0 and _id_in(entry) != ledger:
            raise _refusal("its first entry is another one now than a moment ago", last, entry, head)
        if last is not None and number == start and entry.digest != last.head.digest:
            raise _refusal(f"entry {number} is another one than was signed: rewritten, or forked", last, entry, head)
        head = entry.digest
    if number < start:
        raise _refusal(f"it ends before entry {start}, which was signed: cut off, or rolled back", last, None, head)
    return Head(ledger, number, head)


def _refusal(reason: str, last: CoSignature | None, shown: Entry | None, before: str) -> WitnessRefuses:
    entry: dict[str, object] | None = None
    if shown is not None:
        whole = isinstance(shown.line, str) and len(shown.line) <= LONGEST_SHOWN
        entry = {
            "before": before,
            "digest": shown.digest,
            "line": shown.line if whole else None,
            "number": shown.number,
        }
    return WitnessRefuses(
        f"nothing was signed: {reason}", {"shown": entry, "signed": None if last is None else last.as_dict()}
    )


def is_fork(proof: Mapping[str, object], key: PublicKey) -> bool:
    """Whether a proof shows, to anybody, two ledgers with one beginning: the witness's signature on one entry, and
    another entry of the same number. That it was shown is the witness's word."""
    signed, shown = proof.get("signed"), proof.get("shown")
    if not isinstance(signed, Mapping) or not isinstance(shown, Mapping):
        return False
    with contextlib.suppress(KeyError, TypeError, ValueError):
        statement = cast("CoSignature", evidence_from_dict(signed))
        fits = shown["digest"] == digest_of(str(shown["before"]), str(shown["line"]))
        other = shown["number"] == statement.head.number and shown["digest"] != statement.head.digest
        return fits and other and key.signed(statement.message, bytes.fromhex(statement.signature))
    return False


# --- the memory ------------------------------------------------------------------------------------------------


def _locked(path: Path) -> int:
    """Keep others out for as long as the descriptor is open. Raises BlockingIOError."""
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    if os.name == "posix":
        import fcntl  # which other systems do not have

        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            os.close(descriptor)
            raise BlockingIOError(f"{path}: another process uses this memory; try again later") from None
    return descriptor


def _remembered(path: Path, key: PublicKey) -> Memory:
    if not path.exists():
        return Memory()
    try:
        text = path.read_bytes().decode("ascii")
        record = json.loads(text)
        if f"{canonical(record)}\n" != text:
            raise ValueError("it is not written as it should be")
        return _memory_of(record, key)
    except (KeyError, TypeError, ValueError, AttributeError, RecursionError) as error:
        raise BadEvidence(f"{path}: this is not the memory of the witness {key.hex}: {error}"[:300]) from None


def _memory_of(record: Mapping[str, object], key: PublicKey) -> Memory:
    parts = {name: value for name, value in record.items() if name != "signature"}
    if parts["key"] != key.hex:
        raise ValueError(f"it is that of the witness {parts['key']!r:.99}")
    signature = bytes.fromhex(hexadecimal("signature", record["signature"], 128))
    if not key.signed(MEMORY_DOMAIN + canonical(parts).encode("ascii"), signature):
        raise ValueError("it was changed: its signature does not hold")
    if parts["format"] != FORMAT:
        raise ValueError(f"its format is {parts['format']!r}, this version reads {FORMAT}")
    statements = cast("list[Mapping[str, object]]", parts["signed"])
    signed = {each.head.ledger: each for each in map(evidence_from_dict, statements) if isinstance(each, CoSignature)}
    return Memory(signed, cast("list[Mapping[str, object]]", parts["refused"]))
