"""A witness signs what it saw grow, and refuses, with proof, what was cut off, rewritten or forked."""

import itertools
import random
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import attrs
import pytest

from accountant import BasicComposition, Entry, Ledger, PureDP, ReplaceOne
from accountant.entries.receipts import SigningKey
from accountant.witnesses.cosigning import Witness, WitnessRefuses, is_fork, newest_head
from accountant.witnesses.evidence_files import EvidenceLine, append_evidence, read_evidence
from accountant.witnesses.examination import EvidenceExaminer, Trust
from accountant.witnesses.head_evidence import BadEvidence, CoSignature, Evidence
from proofs_tests.support.ledgers.doubles import RandomizedResponse
from proofs_tests.support.ledgers.forged_chains import new_key, rechained

KEY, OTHER = new_key(), new_key()


def written(charges: int) -> tuple[Entry, ...]:
    ledger = Ledger(PureDP(1.0), composition=BasicComposition(), adjacency=ReplaceOne())
    data = ledger.protect(True)
    for _ in range(charges):
        ledger.release(RandomizedResponse(2.0**-20), data)
    return tuple(ledger.entries)


WHOLE = written(20)


def of(entries: Sequence[Entry]) -> Callable[[int], Iterator[Entry]]:
    return lambda start: iter(entries[start:])


def sign(memory: Path, entries: Sequence[Entry], key: SigningKey = KEY) -> CoSignature:
    with Witness(key, memory) as witness:
        return witness.sign(of(entries), begun=time.time_ns())


def renamed(entries: Sequence[Entry], number: int) -> tuple[Entry, ...]:
    """The same, but for one charge that says it was for somebody else; with the chain made anew."""
    line = entries[number].line.replace('"account":"main"', '"account":"else"')
    assert line != entries[number].line
    return rechained([attrs.evolve(each, line=line) if each.number == number else each for each in entries])


@pytest.fixture
def memory(tmp_path: Path) -> Path:
    return tmp_path / "witness.memory"


def test_it_signs_what_grows(memory: Path) -> None:
    statements = [sign(memory, WHOLE[:length]) for length in (1, 2, 2, 17, 41)]
    assert [each.head.number for each in statements] == [0, 1, 1, 16, 40]
    assert [each.sequence for each in statements] == [0, 1, 2, 3, 4]
    assert [each.head.digest for each in statements] == [WHOLE[each.head.number].digest for each in statements]
    for before, after in itertools.pairwise(statements):
        assert after.previous == before.digest
        assert (after.previous_number, after.previous_head) == (before.head.number, before.head.digest)
        assert before.time <= after.begun <= after.time
    for each in statements:
        assert KEY.public.signed(each.message, bytes.fromhex(each.signature))


def test_it_reads_no_more_than_what_is_new(memory: Path) -> None:
    sign(memory, WHOLE[:31])
    read: list[int] = []

    def counted(start: int) -> Iterator[Entry]:
        for entry in WHOLE[start:]:
            read.append(entry.number)
            yield entry

    with Witness(KEY, memory) as witness:
        witness.sign(counted, begun=time.time_ns())
    assert sorted(set(read)) == [0, *range(29, 41)]


@pytest.mark.parametrize("length", [1, 5, 16])
def test_it_refuses_a_ledger_that_was_cut_off(memory: Path, length: int) -> None:
    sign(memory, WHOLE[:17])
    with pytest.raises(WitnessRefuses, match="it ends before entry 16, which was signed"):
        sign(memory, WHOLE[:length])


def test_it_refuses_one_that_was_cut_off_and_grew_again(memory: Path) -> None:
    sign(memory, WHOLE[:17])
    regrown = renamed(WHOLE, 9)
    with pytest.raises(WitnessRefuses, match="entry 16 is another one than was signed") as refusal:
        sign(memory, regrown)
    assert is_fork(refusal.value.proof, KEY.public)
    assert not is_fork(refusal.value.proof, OTHER.public)


def test_of_two_continuations_it_signs_one(memory: Path) -> None:
    sign(memory, WHOLE[:9])
    one, other = WHOLE, renamed(WHOLE, 9)
    sign(memory, one[:17])
    with pytest.raises(WitnessRefuses, match="another one than was signed: rewritten, or forked"):
        sign(memory, other[:17])
    assert sign(memory, one).head.number == 40


@pytest.mark.parametrize("signed", [1, 9, 17])
def test_it_refuses_a_chain_that_does_not_fit(memory: Path, signed: int) -> None:
    sign(memory, WHOLE[:signed])
    later = list(WHOLE)
    later[30] = attrs.evolve(later[30], line=later[30].line.replace("1", "2", 1))
    with pytest.raises(WitnessRefuses, match="entry 30 is missing, or its digest does not fit"):
        sign(memory, later)
    with pytest.raises(WitnessRefuses, match="entry 30 is missing"):
        sign(memory, [each for each in WHOLE if each.number != 30])


def test_the_entry_that_it_signed_is_looked_at_again(memory: Path) -> None:
    """Its digest may stand there as it was, with another line before it."""
    sign(memory, WHOLE[:9])
    changed = [attrs.evolve(each, line=f"{each.line} ") if each.number == 8 else each for each in WHOLE]
    with pytest.raises(WitnessRefuses, match="entry 8"):
        sign(memory, changed)


def test_it_keeps_the_proof_and_goes_on(memory: Path) -> None:
    sign(memory, WHOLE[:17])
    with pytest.raises(WitnessRefuses):
        sign(memory, renamed(WHOLE, 9))
    with Witness(KEY, memory) as witness:
        (proof,) = witness.refused
    assert is_fork(proof, KEY.public)
    shown = proof["shown"]
    assert isinstance(shown, dict)
    changed = {**proof, "shown": {**shown, "line": "{}"}}
    assert not is_fork(changed, KEY.public)
    assert sign(memory, WHOLE).sequence == 1


def test_ledgers_are_told_apart(memory: Path) -> None:
    other = written(3)
    assert sign(memory, WHOLE).sequence == sign(memory, other).sequence == 0
    assert sign(memory, WHOLE).sequence == 1


def test_what_is_no_ledger_is_not_signed(memory: Path) -> None:
    for entries in ((), WHOLE[1:], [attrs.evolve(WHOLE[0], line="[")], [attrs.evolve(WHOLE[0], line="[]")]):
        with pytest.raises(ValueError, match="no ledger"):
            sign(memory, entries)
    assert not memory.exists()


def test_a_clock_that_went_back_signs_nothing(memory: Path) -> None:
    first = sign(memory, WHOLE[:3])
    with Witness(KEY, memory) as witness, pytest.raises(ValueError, match="clock went back"):
        witness.sign(of(WHOLE), begun=first.time - 1)
    with Witness(KEY, memory) as witness, pytest.raises(ValueError, match="clock went back"):
        witness.sign(of(WHOLE), begun=time.time_ns() + 10**12)


def test_a_head_is_computed_and_not_believed() -> None:
    assert newest_head(of(WHOLE)).digest == WHOLE[-1].digest
    with pytest.raises(WitnessRefuses):
        newest_head(of([*WHOLE[:-1], attrs.evolve(WHOLE[-1], digest="0" * 64)]))


# --- its memory ------------------------------------------------------------------------------------------------


def test_any_bit_of_the_memory_is_missed(memory: Path) -> None:
    sign(memory, WHOLE[:9])
    content, generator = memory.read_bytes(), random.Random(6)
    for bit in generator.sample(range(8 * len(content)), 300):
        changed = bytearray(content)
        changed[bit // 8] ^= 1 << bit % 8
        memory.write_bytes(changed)
        with pytest.raises(BadEvidence), Witness(KEY, memory):
            pass
    memory.write_bytes(content)
    assert sign(memory, WHOLE).sequence == 1


def test_a_memory_of_another_witness_is_none(memory: Path) -> None:
    sign(memory, WHOLE[:9])
    with pytest.raises(BadEvidence, match="it is that of the witness"):
        sign(memory, WHOLE, OTHER)


def test_a_memory_that_was_rolled_back_is_found(memory: Path, tmp_path: Path) -> None:
    """By the witness, where it is shown what it gave out; and by whoever holds both statements."""
    anchors = tmp_path / "anchors.jsonl"
    append_evidence(anchors, sign(memory, WHOLE[:9]))
    old = memory.read_bytes()
    append_evidence(anchors, sign(memory, WHOLE[:17]))
    memory.write_bytes(old)
    with Witness(KEY, memory) as witness, pytest.raises(BadEvidence, match="an older copy of the memory was put back"):
        witness.recall(line.found for line in read_evidence(anchors) if not isinstance(line.found, BadEvidence))
    fork = renamed(WHOLE, 9)
    append_evidence(anchors, sign(memory, fork))  # nobody showed it what it gave out
    for entries in (WHOLE, fork):
        found = examined(entries, [line.found for line in read_evidence(anchors)])
        assert any("rewritten, or forked" in error for error in found)


def test_two_statements_of_one_number_are_found(memory: Path) -> None:
    first = sign(memory, WHOLE[:9])
    old = memory.read_bytes()
    one = sign(memory, WHOLE[:17])
    memory.write_bytes(old)
    other = sign(memory, WHOLE[:19])
    assert one.sequence == other.sequence
    (error,) = examined(WHOLE, [first, one, other])
    assert "the witness signed two statements of number 1" in error
    third = sign(memory, WHOLE)
    (error,) = examined(WHOLE, [first, one, third])
    assert "it does not follow the witness's statement 1" in error


def test_a_witness_without_its_memory_begins_anew_and_is_found(memory: Path) -> None:
    one = sign(memory, WHOLE[:9])
    memory.unlink()
    other = sign(memory, WHOLE)
    (error,) = examined(WHOLE, [one, other])
    assert "the witness signed two statements of number 0" in error


def test_another_process_waits_its_turn(memory: Path, tmp_path: Path) -> None:
    program = (
        "import sys\nfrom accountant.witnesses import Witness\nfrom accountant.entries import SigningKey\n"
        "try:\n    Witness(SigningKey.load(sys.argv[1]), sys.argv[2]).__enter__()\n"
        "except BlockingIOError as error:\n    sys.exit(str(error))"
    )
    SigningKey.create(tmp_path / "key")
    command: list[str | Path] = [sys.executable, "-c", program, tmp_path / "key", memory]
    with Witness(KEY, memory):
        ended = subprocess.run(command, capture_output=True, text=True, check=False)
    assert "another process uses this memory" in ended.stderr
    assert subprocess.run(command, capture_output=True, check=False).returncode == 0


def examined(entries: Sequence[Entry], evidence: Sequence[Evidence | BadEvidence]) -> tuple[str, ...]:
    lines = [EvidenceLine(f"line {place}", each) for place, each in enumerate(evidence, 1)]
    examiner = EvidenceExaminer(lines, Trust((KEY.public,), tolerance=10**15))  # WHOLE is as old as this run
    assert tuple(examiner.watch(entries)) == tuple(entries)
    return examiner.examination().errors
