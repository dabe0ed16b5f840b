"""What evidence proves of a ledger: heads that it must have, and times that its entries cannot have."""

import random
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import attrs
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from accountant import BasicComposition, Entry, Ledger, PureDP, ReplaceOne
from accountant.audit.verification import verify
from accountant.canonical_json import canonical
from accountant.entries.codec import decode
from accountant.entries.receipts import SigningKey
from accountant.witnesses.cosigning import Witness
from accountant.witnesses.evidence_files import EvidenceLine, append_evidence, read_evidence
from accountant.witnesses.examination import TOLERANCE, EvidenceExaminer, Examination, Trust
from accountant.witnesses.head_evidence import (
    BadEvidence,
    CoSignature,
    Evidence,
    Head,
    KeptHead,
    evidence_from_line,
    evidence_line,
)
from accountant.witnesses.time_stamps import StampRequest, load_roots
from accountant.witnesses.writer_signatures import WriterSignatures, key_change
from proofs_tests.support.ledgers.authorities import Authority, authority
from proofs_tests.support.ledgers.doubles import RandomizedResponse
from proofs_tests.support.ledgers.forged_chains import dated, id_of, new_key, rechained

HOUR = 3600 * 10**9
KEY, OTHER = new_key(), new_key()


@pytest.fixture(scope="module")
def trusted(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    return authority(tmp_path_factory.mktemp("authorities") / "trusted")


def written(charges: int) -> tuple[Entry, ...]:
    ledger = Ledger(PureDP(1.0), composition=BasicComposition(), adjacency=ReplaceOne())
    data = ledger.protect(True)
    for _ in range(charges):
        ledger.release(RandomizedResponse(2.0**-20), data)
    return tuple(ledger.entries)


WHOLE = written(10)


def head(entries: Sequence[Entry], number: int) -> Head:
    return Head(id_of(entries), number, entries[number].digest)


def stamped(by: Authority, on: Head) -> Evidence:
    request = StampRequest.of(on)
    return request.answered(by.stamp(request.content))


def signed(folder: Path, entries: Sequence[Entry], key: SigningKey = KEY) -> CoSignature:
    with Witness(key, folder / f"{key.public.hex[:8]}.memory") as witness:
        return witness.sign(lambda start: iter(entries[start:]), begun=time.time_ns())


def examined(entries: Sequence[Entry], evidence: Sequence[Evidence | BadEvidence], trust: Trust) -> Examination:
    examiner = EvidenceExaminer([EvidenceLine(f"line {n}", each) for n, each in enumerate(evidence, 1)], trust)
    assert tuple(examiner.watch(entries)) == tuple(entries)
    return examiner.examination()


def all_kinds(by: Authority, folder: Path, entries: Sequence[Entry], number: int) -> list[Evidence]:
    on = head(entries, number)
    return [KeptHead(on), stamped(by, on), signed(folder, entries[: number + 1])]


def trust_of(by: Authority, tolerance: int = 24 * HOUR) -> Trust:
    """With a tolerance for `WHOLE`, which is as old as this run of the tests."""
    return Trust((KEY.public,), load_roots(by.root), tolerance)


# --- heads -----------------------------------------------------------------------------------------------------


def test_evidence_on_a_ledger_that_only_grew_holds(trusted: Authority, tmp_path: Path) -> None:
    evidence = [each for number in (0, 7, 15) for each in all_kinds(trusted, tmp_path, WHOLE, number)]
    found = examined(WHOLE, evidence, trust_of(trusted))
    assert found.errors == found.caveats == ()
    assert [each.trusted for each in found.findings] == ["proved"] * 9
    assert "kept heads that the ledger has: 3, the newest is that of entry 15" in found.notes
    assert "entries that no evidence covers, those after entry 15: 5" in found.notes
    assert f"entries that no evidence covers, all of them: {len(WHOLE)}" in examined(WHOLE, [], trust_of(trusted)).notes


@pytest.mark.parametrize("cut", [3, 8, 15])
def test_a_ledger_that_was_cut_off_and_grew_again_has_none_of_the_later_heads(
    trusted: Authority, tmp_path: Path, cut: int
) -> None:
    """Truncated, and grown again by the same steps but for one, with every digest made anew."""
    numbers = (1, 7, 15, 20)
    evidence = [each for number in numbers for each in all_kinds(trusted, tmp_path, WHOLE, number)]
    line = WHOLE[cut].line.replace('"time":1', '"time":2')
    regrown = rechained([attrs.evolve(each, line=line) if each.number == cut else each for each in WHOLE])
    for entries, why in ((regrown, "another entry"), (WHOLE[:cut], "the ledger ends before")):
        found = examined(entries, evidence, trust_of(trusted))
        lost = [each for each in found.findings if each.trusted == "wrong"]
        assert [each.head.number for each in lost] == [number for number in numbers if number >= cut for _ in range(3)]
        assert all(why in each.why for each in lost)


def test_a_ledger_that_was_given_another_id_has_no_evidence(trusted: Authority, tmp_path: Path) -> None:
    line = WHOLE[0].line.replace(id_of(WHOLE), "f" * 32)
    other = rechained([attrs.evolve(WHOLE[0], line=line), *WHOLE[1:]])
    assert verify(other).sound
    found = examined(other, all_kinds(trusted, tmp_path, WHOLE, 7), trust_of(trusted))
    assert found.errors == ("there is no evidence on this ledger: it has another id, or was never witnessed",)
    assert examined(WHOLE, [], trust_of(trusted)).errors == found.errors


def test_a_forged_signature_of_a_witness_is_found(tmp_path: Path) -> None:
    genuine = signed(tmp_path, WHOLE[:8])
    forged = signed(tmp_path, WHOLE[:8], OTHER)
    trust = Trust((KEY.public,), tolerance=24 * HOUR)
    assert examined(WHOLE, [genuine], trust).errors == ()
    (unknown,) = examined(WHOLE, [forged], trust).errors
    assert "which is not the key of a witness that you named" in unknown
    for changed in (
        attrs.evolve(forged, key=KEY.public.hex),
        attrs.evolve(genuine, time=genuine.time + 1),
        attrs.evolve(genuine, begun=genuine.begun - 1),
        attrs.evolve(genuine, head=head(WHOLE, 9)),
    ):
        assert examined(WHOLE, [changed], trust).errors == ("line 1: the witness's signature is forged",)


def test_evidence_that_nobody_can_check_proves_nothing(trusted: Authority, tmp_path: Path) -> None:
    found = examined(WHOLE, all_kinds(trusted, tmp_path, WHOLE, 7), Trust())
    assert found.errors == ()
    assert len(found.caveats) == 2
    assert [each.trusted for each in found.findings] == ["proved", "not checked", "not checked"]
    assert found.no_later_than(3) is None


# --- times -----------------------------------------------------------------------------------------------------


def test_what_is_proved_of_times(trusted: Authority, tmp_path: Path) -> None:
    now = written(10)  # the tests may have begun long ago
    on, before = head(now, 7), time.time_ns()
    stamp, statement = stamped(trusted, on), signed(tmp_path, now[:12])
    found = examined(now, [stamp, statement], trust_of(trusted, TOLERANCE))
    by_stamp = found.no_later_than(7)
    assert by_stamp is not None
    assert before - 10**9 <= by_stamp <= time.time_ns() + 2 * 10**9
    assert found.no_later_than(8) == found.no_later_than(11) == statement.time
    assert found.no_later_than(12) is None
    assert found.not_before(11) is None
    assert found.not_before(12) == found.not_before(20) == statement.begun  # a stamp alone says nothing of what follows
    assert examined(now, [stamp], trust_of(trusted, TOLERANCE)).not_before(20) is None


def test_a_back_dated_entry_is_found_by_a_witness_alone(trusted: Authority, tmp_path: Path) -> None:
    """The ledger is two hours old when it is witnessed; then an entry comes that says it was written an hour before."""
    now = written(10)  # the tests may have begun long ago
    old = dated(now, -2 * HOUR)
    evidence = all_kinds(trusted, tmp_path, old, 15)
    back_dated = rechained([*old[:16], *dated(now, -HOUR)[16:]])
    assert verify(back_dated).sound
    (error,) = examined(back_dated, evidence, trust_of(trusted, TOLERANCE)).errors
    assert "entry 16 says that it was written at" in error
    assert "it is back-dated, or the witness was shown an old copy" in error
    assert examined(back_dated, evidence[:2], trust_of(trusted, TOLERANCE)).errors == ()
    honest = rechained([*old[:16], *now[16:]])
    assert examined(honest, evidence, trust_of(trusted, TOLERANCE)).errors == ()


def test_a_clock_that_was_ahead_is_found_by_both(trusted: Authority, tmp_path: Path) -> None:
    now = written(10)  # the tests may have begun long ago
    ahead = dated(now, HOUR)
    _, stamp, statement = all_kinds(trusted, tmp_path, ahead, 15)
    for evidence in (stamp, statement):
        (error,) = examined(ahead, [evidence], trust_of(trusted, TOLERANCE)).errors
        assert "the writer's clock was ahead, or the entry was dated later" in error
        patient = attrs.evolve(trust_of(trusted, TOLERANCE), tolerance=2 * HOUR)
        assert examined(ahead, [evidence], patient).errors == ()


def test_clocks_may_differ_by_the_tolerance(tmp_path: Path) -> None:
    now = written(10)  # the tests may have begun long ago
    for by, wrong in ((TOLERANCE - HOUR // 60, False), (TOLERANCE + HOUR // 60, True)):
        entries = dated(now, by)
        found = examined(entries, [signed(tmp_path, entries)], Trust((KEY.public,)))
        assert bool(found.errors) is wrong
        (tmp_path / f"{KEY.public.hex[:8]}.memory").unlink()


def test_a_witness_that_was_shown_an_old_copy_is_found_by_another_s_evidence(tmp_path: Path) -> None:
    """One saw entry 20, and later another saw the ledger end with entry 7."""
    now = written(10)  # the tests may have begun long ago
    old = dated(now, -HOUR)
    first = signed(tmp_path, old)
    plain = attrs.evolve(signed(tmp_path, old[:8], OTHER), begun=first.time + HOUR, time=first.time + HOUR)
    later = attrs.evolve(plain, signature=OTHER.sign(plain.message).hex())
    found = examined(old, [first, later], Trust((KEY.public, OTHER.public)))
    assert any("it was shown an old copy, or a clock is wrong" in error for error in found.errors)


def test_missing_statements_are_noted(tmp_path: Path) -> None:
    now = written(10)  # the tests may have begun long ago
    statements = [signed(tmp_path, now[:length]) for length in (3, 5, 9)]
    found = examined(now, [statements[0], statements[2]], Trust((KEY.public,)))
    assert found.errors == ()
    assert "of the witness's statements 0 to 2, 1 are not here" in found.notes


# --- files of evidence -----------------------------------------------------------------------------------------


def test_any_bit_of_a_line_breaks_it(trusted: Authority, tmp_path: Path) -> None:
    generator = random.Random(8)
    for evidence in all_kinds(trusted, tmp_path, WHOLE, 7):
        path = tmp_path / "anchors.jsonl"
        path.unlink(missing_ok=True)
        append_evidence(path, evidence)
        content = path.read_bytes()
        assert [line.found for line in read_evidence(path)] == [evidence]
        for bit in range(8 * (len(content) - 1)):
            changed = bytearray(content[:-1])
            changed[bit // 8] ^= 1 << bit % 8
            with pytest.raises((BadEvidence, UnicodeDecodeError)):
                evidence_from_line(changed.decode("ascii"))
        for bit in generator.sample(range(8 * len(content)), 20):
            changed = bytearray(content)
            changed[bit // 8] ^= 1 << bit % 8
            path.write_bytes(changed)
            assert any(isinstance(line.found, BadEvidence) for line in read_evidence(path)), bit


def test_a_torn_line_is_found_and_nothing_is_added_to_it(tmp_path: Path) -> None:
    path = tmp_path / "anchors.jsonl"
    for number in (3, 7):
        append_evidence(path, KeptHead(head(WHOLE, number)))
    content = path.read_bytes()
    path.write_bytes(content[:-5])
    first, second = read_evidence(path)
    assert first.found == KeptHead(head(WHOLE, 3))
    assert isinstance(second.found, BadEvidence)
    with pytest.raises(ValueError, match="its last line is not whole"):
        append_evidence(path, KeptHead(head(WHOLE, 9)))
    assert path.read_bytes() == content[:-5]


@pytest.mark.parametrize("content", ["-----BEGIN PRIVATE KEY-----\nM\n", '{"exchequer":"ledger"}\n', "\n", "é\n"])
def test_nothing_is_added_to_a_file_of_something_else(tmp_path: Path, content: str) -> None:
    (path := tmp_path / "other").write_text(content, encoding="utf-8")
    with pytest.raises(ValueError, match="something else than evidence"):
        append_evidence(path, KeptHead(head(WHOLE, 9)))
    assert path.read_text(encoding="utf-8") == content


@pytest.mark.parametrize(
    "line", ["", "{}", "[]", "null", '{"evidence":"kept"}', "[" * 100_000, '{"a":NaN}', "x" * ((1 << 20) + 1)]
)
def test_what_is_no_line_is_none(line: str) -> None:
    with pytest.raises(BadEvidence):
        evidence_from_line(line)


def test_a_checksum_forgives_nothing(tmp_path: Path) -> None:
    """With the checksum made anew: what a statement says must make sense, and be written in the one way."""
    statement = signed(tmp_path, WHOLE[:8]).as_dict()
    for name, value in (
        ("sequence", 1), ("previous_number", 3), ("begun", 10**30), ("number", -1), ("number", True),
        ("key", "AB" * 32), ("time", 1.5), ("ledger", ""), ("evidence", "heard"), ("more", 1),
    ):  # fmt: skip
        with pytest.raises(BadEvidence):
            evidence_from_line(_line({**statement, name: value}))
    assert evidence_from_line(_line(statement)).as_dict() == statement


def _line(parts: dict[str, object]) -> str:
    import hashlib

    checksum = hashlib.sha256(canonical(parts).encode("ascii")).hexdigest()
    return canonical({**parts, "checksum": checksum})


# --- whatever is done ------------------------------------------------------------------------------------------

STEPS = st.lists(
    st.sampled_from(["charge", "charge", "sign", "rotate", "replace", "keep", "stamp", "witness"]), max_size=14
)


class Story:
    """A ledger that is charged, signed and witnessed, in whatever order; all of it as it should be."""

    def __init__(self, by: Authority, folder: Path) -> None:
        self.by, self.folder, self.path = by, folder, folder / "anchors.jsonl"
        self.ledger = Ledger(PureDP(1.0), composition=BasicComposition(), adjacency=ReplaceOne())
        self.data = self.ledger.protect(True)
        self.boss, self.writer = new_key(), new_key()
        self.ledger.change_key(key_change("enrol", self.boss, by=self.boss, name="boss", administrator=True))
        self.ledger.change_key(key_change("enrol", self.writer, by=self.boss, name="writer"))
        self.ledger.sign_with(self.writer, every=3)
        self.keep()

    def charge(self) -> None:
        self.ledger.release(RandomizedResponse(2.0**-20), self.data)

    def sign(self) -> None:
        self.ledger.sign()

    def rotate(self) -> None:
        self.ledger.sign()
        new = new_key()
        self.ledger.change_key(key_change("rotate", new, by=self.writer))
        self._go_on_with(new)

    def replace(self) -> None:
        """The old key is revoked, and another enrolled."""
        self.ledger.sign()
        new = new_key()
        self.ledger.change_key(key_change("revoke", self.writer.public.hex, by=self.boss))
        self.ledger.change_key(key_change("enrol", new, by=self.boss, name="writer"))
        self._go_on_with(new)

    def _go_on_with(self, key: SigningKey) -> None:
        self.writer = key
        self.ledger.sign_with(key, every=3)

    def _head(self) -> Head:
        return head(self.ledger.entries, len(self.ledger.entries) - 1)

    def keep(self) -> None:
        append_evidence(self.path, KeptHead(self._head()))

    def stamp(self) -> None:
        append_evidence(self.path, stamped(self.by, self._head()))

    def witness(self) -> None:
        append_evidence(self.path, signed(self.folder, tuple(self.ledger.entries)))

    def errors(self, entries: Sequence[Entry]) -> Iterator[str]:
        """What all checks together find."""
        examiner = EvidenceExaminer(read_evidence(self.path), trust_of(self.by))
        writers = WriterSignatures(required=True, first_key=self.boss.public)
        yield from verify(examiner.watch(entries), writers=writers).errors
        yield from examiner.examination().errors


@settings(max_examples=25, deadline=None)
@given(steps=STEPS, places=st.lists(st.integers(min_value=0), min_size=8, max_size=8))
def test_what_is_as_it_should_be_is_sound_and_any_bit_of_it_is_missed(
    trusted: Authority, steps: list[str], places: list[int]
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        story = Story(trusted, Path(folder))
        for step in steps:
            getattr(story, step)()
        story.ledger.sign()
        entries = tuple(story.ledger.entries)
        assert list(story.errors(entries)) == []
        content = story.path.read_bytes()
        for place in places[:4]:
            changed = bytearray(content)
            changed[place // 8 % len(content)] ^= 1 << place % 8
            story.path.write_bytes(changed)
            assert list(story.errors(entries))
        story.path.write_bytes(content)
        ours = [entry for entry in entries if entry.kind in ("key", "signed")]
        for place in places[4:]:
            entry = ours[place % len(ours)]
            line = bytearray(entry.line.encode("ascii"))
            line[place // 8 % len(line)] ^= 1 << place % 7  # so that it stays ASCII
            forged = attrs.evolve(entry, line=line.decode("ascii"))
            assert list(story.errors(rechained([forged if each is entry else each for each in entries])))


def test_an_entry_is_dated_by_moving_its_time_alone() -> None:
    assert [decode(each).time for each in dated(WHOLE, 5)] == [decode(each).time + 5 for each in WHOLE]
    assert verify(dated(WHOLE, 5)).sound


def test_lines_are_written_as_they_are_read(trusted: Authority, tmp_path: Path) -> None:
    for evidence in all_kinds(trusted, tmp_path, WHOLE, 7):
        assert evidence_from_line(evidence_line(evidence)) == evidence
