"""What stands in a pack, all of it made from the exported entries, the models and a public key.

Whoever checks a pack makes these parts again and compares them; so everything here depends on nothing but its input.
"""

import datetime
import hashlib
import json
import platform
import tempfile
from collections.abc import Mapping, Sequence
from importlib import metadata
from pathlib import Path
from typing import Final

import attrs

from accountant.audit import (
    ModelClaim,
    ModelComparison,
    Statement,
    StatementDetails,
    Verification,
    compare_model,
    read_model_claim,
    stated,
)
from accountant.audit.report import ClaimText, Evidence, report_of
from accountant.entries import PublicKey, visible
from exchequer.commands.auditing import audit_ledger
from exchequer.commands.exports.zip_files import ENTRIES, sha256
from exchequer.commands.ledgers.open_ledger import StoredEntries, reading, replayed, until_failure

LIBRARIES: Final = (
    "exchequer",
    "numpy",
    "scipy",
    "opendp",
    "attrs",
    "scikit-learn",
    "sqlalchemy",
    "jinja2",
    "cryptography",
    "dp-accounting",
)
KEY: Final = "public-key.pem"


class NotPacked(Exception):
    """The ledger is not sound, or confirms a model's claim not. findings: why.  code: the exit code."""

    def __init__(self, title: str, findings: Sequence[tuple[str, str]], code: int) -> None:
        super().__init__(title)
        self.findings, self.code = tuple(findings), code


@attrs.frozen
class Source:
    """What a pack is made of.

    entries: an export.  models: their files, by the name that they have in the pack.  key: in PEM, None for none.
    second: whether another accountant is asked.  made: the time that the pack bears.  tools: as `tools_here` has them.
    """

    entries: Path
    models: Mapping[str, Path]
    key: Path | None
    second: bool
    made: datetime.datetime
    tools: Mapping[str, object]


@attrs.frozen
class Parts:
    """What was made. files: contents by name.  code: the exit code of `ledger verify`, models included."""

    files: Mapping[str, bytes]
    ledger: str
    entries: int
    head: str
    code: int


def tools_here(claims: Mapping[str, ClaimText] | None) -> dict[str, object]:
    """Versions of everything that a result may depend on; no name of a machine."""
    listed = {name: attrs.astuple(claim) for name, claim in (claims or {}).items()}
    return {
        **{name: _version(name) for name in LIBRARIES},
        "python": platform.python_version(),
        "platform": f"{platform.system()} {platform.machine()}",
        "claims": hashlib.sha256(json.dumps(listed, sort_keys=True).encode()).hexdigest() if listed else None,
    }


def _version(name: str) -> str | None:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None


def as_json(record: object) -> bytes:
    """JSON for people and programs, always written alike."""
    return (json.dumps(record, indent=1, sort_keys=True, ensure_ascii=False, allow_nan=False) + "\n").encode("utf-8")


def made_parts(source: Source, claims: Mapping[str, ClaimText] | None) -> Parts:
    """Everything but the entries and the models themselves. Raises NotPacked, and ValueError as readers do."""
    evidence, details = Evidence(), StatementDetails()
    with reading(str(source.entries)) as entries:
        known = None if claims is None else dict(claims)
        found = audit_ledger.audited(entries, known, None, source.second, evidence, details)
        if found.result.verdict in ("not sound", "cannot be checked"):
            raise NotPacked(found.title(ENTRIES), found.result.findings, found.code(strict=False))
        replay = replayed(entries)
        state, opened = replay.state, replay.state.opened
        assert opened is not None, "a ledger that is sound was opened"
        statement = stated(details, replay.head, state.rule.guarantee(state.total, state.budget), state.budget)
        models = [_Model.read(name, path, entries, source.key) for name, path in source.models.items()]
    report = report_of(
        evidence,
        verification=found.verification,
        claims=claims,
        second_opinion=found.second,
        title=f"Privacy report on the ledger {opened.id}",
        made=source.made,
    )
    verification = _verification(found, models, source)
    spent = state.rule.guarantee(state.total, state.budget)
    disclosure = _disclosure(
        found, statement, models, source, sums={"spent": spent.as_dict(), "budget": state.budget.as_dict()}
    )
    files = {
        "README.txt": _readme(opened.id, replay.head, source).encode("utf-8"),
        "statement.txt": f"{statement}\n".encode(),
        "statement.json": as_json(statement.as_dict()),
        "verification.txt": _as_text(verification).encode("utf-8"),
        "verification.json": as_json(verification),
        "versions.json": as_json(source.tools),
        "disclosure.json": as_json({"ledger": opened.id, **disclosure}),
        "report.html": report.encode("utf-8"),
        **{f"receipts/{Path(each.name).name}": as_json(each.receipts) for each in models},
        **({} if source.key is None else {KEY: _pem(source.key)}),
    }
    codes = [found.code(strict=False), *(audit_ledger.CODES[each.found.result.verdict] for each in models)]
    return Parts(files, opened.id, len(entries), replay.head, max(codes))


@attrs.frozen
class _Model:
    """A model whose claim the ledger confirms."""

    name: str
    sha256: str
    claim: ModelClaim
    found: ModelComparison

    @staticmethod
    def read(name: str, path: Path, entries: StoredEntries, key: Path | None) -> "_Model":
        claim, failures = read_model_claim(path), list[str]()
        try:
            public = None if key is None else PublicKey.load(key)
            found = compare_model(claim, until_failure(entries, failures), public_key=public)
        except ImportError as error:
            raise ValueError(str(error)) from error
        found = attrs.evolve(found, errors=(*failures, *found.errors))
        if not found.sound:
            title = f"{name}: {audit_ledger.CONFIRMED['not sound']}"
            raise NotPacked(title, found.result.findings, audit_ledger.NOT_SOUND)
        return _Model(name, sha256(path), claim, found)

    @property
    def receipts(self) -> list[dict[str, object]]:
        """As JSON."""
        return [dict(each.as_dict()) for each in self.claim.receipts]

    def as_dict(self) -> dict[str, object]:
        found = self.found
        return {
            "file": self.name,
            "sha256": self.sha256,
            "content": self.claim.content,
            "learner": self.claim.learner,
            "verdict": found.result.verdict,
            "signed_for_this_model": found.bound,
            "entries": [each.number for each in self.claim.receipts],
            "cost": None if found.fit is None else found.fit.as_dict(),
            "caveats": list(found.caveats),
            "notes": list(found.notes),
        }


def _pem(key: Path) -> bytes:
    """The key as we write one, whatever else stands in its file."""
    with tempfile.TemporaryDirectory(prefix="exchequer-key-") as folder:
        PublicKey.load(key).save(Path(folder) / KEY)
        return (Path(folder) / KEY).read_bytes()


def _verification(found: audit_ledger.Audited, models: Sequence[_Model], source: Source) -> dict[str, object]:
    result: Verification = found.result
    option = " --second-opinion" if source.second else ""
    key = "" if source.key is None else f" --public-key {KEY}"
    return {
        "command": f"exchequer ledger verify {ENTRIES}{option}",
        "verdict": result.verdict,
        "entries": result.entries,
        "head": result.head,
        "errors": list(result.errors),
        "caveats": list(result.caveats),
        "notes": list(result.notes),
        "second_opinion": None if found.second is None else found.second.as_dict(),
        "models": [
            {"command": f"exchequer verify-model {each.name} --ledger {ENTRIES}{key}", **each.as_dict()}
            for each in models
        ],
    }


def _as_text(record: Mapping[str, object]) -> str:
    """The verification for people."""
    lines = [f"$ {record['command']}", f"verdict: {record['verdict']}, {record['entries']} entries"]
    lines += _findings(record)
    second = record["second_opinion"]
    if isinstance(second, dict):
        lines.append(f"second opinion: {'agrees' if second['agrees'] else 'DISAGREES'}, at delta {second['delta']:g}")
    lines.append(f"head: {record['head']}")
    models = record["models"]
    assert isinstance(models, list)
    for each in models:
        lines += ["", f"$ {each['command']}", f"verdict: {each['verdict']}", *_findings(each)]
        lines.append(f"its charges: entries {', '.join(map(str, each['entries']))}")
    return "\n".join(map(visible, lines)) + "\n"


def _findings(record: Mapping[str, object]) -> list[str]:
    found = []
    for kind in ("errors", "caveats", "notes"):
        texts = record.get(kind, [])
        assert isinstance(texts, list)
        found += [f"{kind.removesuffix('s')}: {text}" for text in texts]
    return found


def _disclosure(
    found: audit_ledger.Audited,
    statement: Statement,
    models: Sequence[_Model],
    source: Source,
    sums: Mapping[str, object],
) -> dict[str, object]:
    """Criteria, thresholds and versions of tools, linked to outputs: what SATRE 3.3.09 asks for."""
    bounded = statement.promises
    rows: list[tuple[str, str, object, object, bool | None]] = [
        ("verified", "every digest, sum, ceiling and price holds", "no error", found.result.verdict, True),
        ("budget", "all releases together cost at most the budget", sums["budget"], sums["spent"], bounded),
        ("noise", "no release drew simulated noise", "none", "secure" if statement.private else "simulated or unknown",
         statement.private),
        ("released", "no charge is without its release", 0, statement.unreleased, not statement.unreleased),
        ("second opinion", "another accountant does not come to more", "agrees",
         None if found.second is None else found.second.agrees, None if found.second is None else found.second.agrees),
    ]  # fmt: skip
    criteria = [dict(zip(("id", "criterion", "threshold", "value", "met"), row, strict=True)) for row in rows]
    return {
        "record": "disclosure control by differential privacy",
        "schema": 1,
        "head": found.result.head,
        "adjacency": statement.adjacency,
        "rule": statement.rule,
        "criteria": criteria,
        "tools": dict(source.tools),
        "outputs": [
            {
                **each.as_dict(),
                "criteria": [*(row[0] for row in rows), "receipts"],
                "receipts": {"criterion": "its claim is what the ledger says", "met": each.found.sound},
            }
            for each in models
        ],
        "outputs_are": "the models given; other releases are in the entries, which say what was charged and not what "
        "came out",
    }


def _readme(ledger: str, head: str, source: Source) -> str:
    return f"""A pack of evidence on the ledger {ledger}

statement.txt, .json      what was spent, on what, and what that promises
entries.jsonl             all entries of the ledger, chained by SHA-256; `exchequer ledger verify` reads them
models/, receipts/        models that were given, and the receipts that name their entries
verification.txt, .json   what was verified, by which command, and what was found
disclosure.json           criteria, thresholds and versions of tools, linked to the outputs (SATRE 3.3.09)
report.html               the same for people; it needs no network
versions.json             what made this pack
manifest.json, SHA256SUMS sums of all files: `sha256sum -c SHA256SUMS`

To check it:              exchequer ledger check-pack pack.zip --expect-head HEAD
with the head that you kept, or had from somebody that you trust. In this pack it is
                          {head}
Sums and digests show that the files belong together. Only a head, or a key, from elsewhere shows whose they are.
Entries may name people and machines (user, host): look before you pass them on.

Made {source.made.isoformat(timespec="seconds")}
"""
