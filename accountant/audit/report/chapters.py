"""The sections of a report, each from what was gathered; see `accountant.audit.report` for the whole."""

from collections.abc import Iterator, Mapping, Sequence

import attrs

from accountant.audit import (
    READ_AT,
    SEVERAL,
    as_approx,
    as_property,
    for_group,
    in_symbols,
    left_text,
    percent,
    readings,
    spent_text,
    times,
    unit,
)
from accountant.audit.report.burn_down import BurnDownPoint, moment, panels
from accountant.audit.report.evidence import Evidence, NoiseUse, part_of
from accountant.audit.report.page import (
    MOST_ROWS,
    Cell,
    Figure,
    Figures,
    Heading,
    Listing,
    Panels,
    Part,
    ReportSection,
    Table,
    TableRow,
    Text,
    Tone,
    columns,
    counted,
    row,
    shown,
)
from accountant.composition import Amount, Composition
from accountant.costs import (
    GDP,
    ZCDP,
    AddRemoveOne,
    Adjacency,
    Budget,
    FeatureValue,
    FeatureValues,
    PureDP,
    Unbounded,
    own_sources,
)
from accountant.entries import Opened


@attrs.frozen
class ClaimText:
    """A result that costs depend on, as the registry has it.

    id: as entries name it.  verdict: what became of the claim as it was printed.  source: where that was.
    """

    id: str
    verdict: str
    statement: str
    source: str


@attrs.frozen
class Findings:
    """Everything that the sections are made of. spent: what the rule makes of the total.  sound: by `verify`."""

    evidence: Evidence
    opened: Opened
    spent: Budget
    sound: bool

    @property
    def rule(self) -> Composition:
        """The rule of composition."""
        return self.opened.composition

    @property
    def left(self) -> Amount:
        """What the total may still rise by, whoever it is set aside for."""
        return self.evidence.state.root.ceiling.minus(self.evidence.state.total)

    @property
    def promises(self) -> bool:
        """Whether anything is promised."""
        return not isinstance(self.spent, Unbounded)

    @property
    def private(self) -> bool:
        """Whether all noise is known to be real."""
        return self.evidence.private and not self.evidence.unknown


RULES: Mapping[str, str] = {
    "basic": "basic composition, which adds up ε and δ",
    "advanced": "advanced composition, which adds up ρ, and δ",
    "advanced-textbook": "advanced composition by the formula of the textbooks, which adds up squares of ε, and δ",
    "zcdp": "zCDP composition, which adds up ρ",
    "gdp": "GDP composition, which adds up squares of μ",
    "no-bound": "a count of releases, which promises nothing",
}


def _for_whom(adjacency: Adjacency) -> str:
    match adjacency:
        case AddRemoveOne():
            return "for adding or removing any one record (add-remove-one)"
        case FeatureValue(column=column):
            return f"for changing any one entry of column {column} (feature-value), and for nothing else"
        case FeatureValues(columns=several):
            listed = ", ".join(map(str, several))
            return f"for changing one record's entries of columns {listed} (feature-values), and for nothing else"
        case _:
            return "for replacing any one record by another (replace-one)"


def sentence(found: Findings) -> str:
    """The guarantee in one sentence: how much, for which unit, at which δ, by which rule."""
    if not found.promises:
        return "Nothing is promised: taken together, everything released so far is not private."
    what, whom = as_property(found.spent), _for_whom(found.opened.adjacency)
    rule = RULES.get(found.rule.name, found.rule.name)
    total = f"{what} {whom}: {in_symbols(found.spent)}, by {rule}"
    if not found.private:
        return f"With secure noise, everything released so far would together be {total}."
    return f"Everything released so far is together {total}."


# --- the guarantee ----------------------------------------------------------------------------------------


def guarantee(found: Findings) -> ReportSection:
    """What is promised, to whom, and what that means."""
    name = "The guarantee" if found.promises else "No guarantee"
    return ReportSection("guarantee", name, tuple(_guarantee(found)))


def _guarantee(found: Findings) -> Iterator[Part]:
    if not found.sound:
        yield Text("This ledger is not sound, so no guarantee follows from it. Its entries add up to this:")
    yield Text(sentence(found), "guarantee")
    yield _figures(found)
    if not found.promises:
        return
    if found.sound and found.private:
        yield from _standing(found)
    about = unit(found.opened.adjacency)
    yield Heading("Whom it protects: the unit of privacy")
    yield Text(f"{about.neighbours} {about.hides} {about.leaves}")
    yield Heading("What it means")
    if isinstance(found.spent, ZCDP | GDP):
        number = "ρ" if isinstance(found.spent, ZCDP) else "μ"
        yield Text(
            f"This ledger promises {number}, which stands for an ε at every δ. This report reads it at δ = "
            f"{READ_AT:g}: {in_symbols(as_approx(found.spent))}."
        )
    yield Table(
        "The promise in plain words",
        columns("Reading", "In words", "In symbols"),
        tuple(row(each.name, each.text, each.formula) for each in readings(found.spent)),
        "p and q are the probabilities of one event for two neighbouring data sets. All numbers are rounded up, and "
        "refer to what is spent so far.",
        long=True,
    )
    yield _several(found)


def _figures(found: Findings) -> Figures:
    left = 1.0 - part_of(found.evidence.state.total, found.evidence.state.root.ceiling)
    share = "no limit" if found.left.endless else f"{int(max(left, 0.0) * 1000) / 10:.1f} %"
    waiting = len(found.evidence.waiting)
    return Figures(
        (
            _cost_figure("Spent so far", found.spent, spent_text(found.evidence.state.total, found.rule)),
            _cost_figure("Budget", found.opened.budget, left_text(found.evidence.state.root.ceiling, found.rule)),
            Figure("Left of the whole budget", share, "" if found.left.endless else left_text(found.left, found.rule)),
            Figure(
                "Charges",
                f"{found.evidence.kinds['charged']:,}",
                f"{waiting:,} without a release" if waiting else "all of them released",
            ),
        )
    )


def _cost_figure(name: str, cost: Budget, amount: str) -> Figure:
    value, _, delta = in_symbols(cost).partition(" at ")
    return Figure(name, value, f"at {delta}; {amount}" if delta else amount)


def _standing(found: Findings) -> Iterator[Text]:
    yield Text(
        "The budget was fixed when the ledger was opened. It holds for everything that is ever released from it, "
        "also where costs and queries were chosen after seeing earlier results: what would exceed it is refused."
    )
    if not isinstance(found.opened.budget, PureDP):
        yield Text(
            "What is spent so far is a reading of the ledger. It is a promise of its own where neither the costs nor "
            "the time of reading were chosen because of what had been released; else the budget is the number to rely "
            "on."
        )


def _several(found: Findings) -> Table:
    promise = as_approx(found.spent)
    changes = "entries" if isinstance(found.opened.adjacency, FeatureValue | FeatureValues) else "records"
    how, plus = ("kε, and δ(e^kε − 1)/(e^ε − 1)", ", and δ") if promise.delta else ("kε", "")
    rows: list[TableRow] = []
    for records in SEVERAL:
        group = for_group(promise, records)
        rows.append(
            row(f"{records} {changes}", in_symbols(group), f"the factor {times(group.epsilon)}" + plus)
            if group is not None
            else row(f"{records} {changes}", "no promise is left", "-")
        )
    return Table(
        f"If one person stands behind several {changes}",
        columns("Together", "What holds for all of them together", "Probabilities change by"),
        tuple(rows),
        f"From the promise for one alone: {how}.",
    )


# --- how it was spent -------------------------------------------------------------------------------------


def burn_down(found: Findings) -> ReportSection:
    """The share of the budget that was spent, over entries and over time."""
    drawn = panels([BurnDownPoint(*each) for each in found.evidence.spent_over_time()])
    measure = f"{found.rule.unit} over its ceiling"
    if found.evidence.state.root.ceiling.delta_units:
        measure += ", or Σδ over its ceiling where that is larger"
    spent = percent(part_of(found.evidence.state.total, found.evidence.state.root.ceiling))
    return ReportSection(
        "burn-down",
        "How the budget was spent",
        (
            Text(
                f"{spent} of the whole budget is spent. The share is {measure}, which is what this rule of composition "
                "adds up, exactly. Rounds that were given back take the curve down again."
            ),
            Panels(drawn),
        ),
    )


def and_more(number: int, what: str) -> str:
    """What stands below a table that shows the first MOST_ROWS of so many."""
    return f"and {number - MOST_ROWS:,} more {what}" if number > MOST_ROWS else ""


# --- what it depends on -------------------------------------------------------------------------------------

TRUST = (
    "The curator's process holds the data and is trusted; whoever sees releases is not, whatever else they know and "
    "however much they compute.",
    "The programs that ran are taken to be those that the ledger names: their queries are checked, not sandboxed.",
    "Running time, memory use and error messages are not protected, and must not reach those who see releases.",
)

_TONES: Mapping[str, Tone] = {
    "holds": "good",
    "tightened": "good",
    "narrowed": "warn",
    "false as printed": "warn",
    "unknown": "bad",
}


def assumptions(found: Findings, claims: Mapping[str, ClaimText] | None) -> ReportSection:
    """The trust model, and the results that costs depend on."""
    ids = sorted(set(found.evidence.claims) | set(found.rule.claims))
    parts: list[Part] = [Heading("Whom one has to trust"), Text(" ".join(TRUST)), Heading("What the costs depend on")]
    if claims is None:
        parts += [
            Text("No registry of claims was given, so their statements and verdicts are not shown."),
            Listing(tuple(shown(name) for name in ids[:MOST_ROWS]), max(len(ids) - MOST_ROWS, 0)),
        ]
    else:
        parts.append(_claims(found, ids, claims))
    return ReportSection("assumptions", "Assumptions and claims", tuple(parts))


def _claims(found: Findings, ids: Sequence[str], claims: Mapping[str, ClaimText]) -> Table:
    rows: list[TableRow] = []
    for name in ids[:MOST_ROWS]:
        known = claims.get(name)
        verdict = "unknown" if known is None else known.verdict
        rows.append(
            row(
                Cell(shown(name), code=True),
                Cell(verdict, tag=_TONES.get(verdict, "warn")),
                Cell("This version's registry does not have it." if known is None else known.statement),
                "-" if known is None else known.source,
            )
        )
    return Table(
        "Results that costs, plans and the rule of composition depend on",
        columns("Claim", "Verdict", "Statement", "Source"),
        tuple(rows),
        "holds: as printed. tightened: the code uses a better constant. narrowed: true in a narrower sense than "
        "printed, and used only there. false as printed: the printed form is not used.",
        and_more(len(ids), "claims"),
        long=True,
    )


def noise(found: Findings) -> ReportSection:
    """Where the noise came from."""
    sources = found.evidence.sources
    parts: list[Part] = []
    if not sources:
        parts.append(Text("Nothing was drawn yet, and no open charge has named a source of noise."))
    else:
        parts.append(_sources(sources))
    if found.evidence.unknown:
        parts.append(
            Text(
                f"{counted(found.evidence.unknown, 'open charge')} announced nothing, so the noise that will be drawn "
                "is unknown."
            )
        )
    return ReportSection("noise", "Noise sources", tuple(parts))


def _kind(name: str, source: NoiseUse) -> Cell:
    if not source.private:
        return Cell("simulation: not private", tag="bad")
    return Cell("not of this library", tag="warn") if own_sources([name]) else Cell("secure", tag="good")


def _sources(sources: Mapping[str, NoiseUse]) -> Table:
    rows = tuple(
        row(
            Cell(shown(name), code=True),
            _kind(name, source),
            f"{source.released:,}",
            f"{source.waiting:,}",
        )
        for name, source in sorted(sources.items())[:MOST_ROWS]
    )
    return Table(
        "Sources of noise",
        columns("Source", "Kind", "Rounds released", "Rounds charged, not released"),
        rows,
        "That a source which is not of this library is secure is the word of whoever made the charges.",
        and_more(len(sources), "sources"),
    )


# --- the ledger itself --------------------------------------------------------------------------------------


def facts_of_ledger(found: Findings, entries: int, head: str, version: str) -> ReportSection:
    """Which ledger this is, so that others can find the same one."""
    evidence = found.evidence
    kinds = ", ".join(f"{number:,} {kind}" for kind, number in sorted(evidence.kinds.items()))
    facts: tuple[tuple[str, str, bool], ...] = (
        ("Ledger", shown(found.opened.id), True),
        ("Head digest", shown(head), True),
        ("Entries", f"{entries:,} ({kinds})", False),
        ("Opened", moment(evidence.first_time), False),
        ("Last entry", moment(evidence.last_time), False),
        ("Rule of composition", f"{_described(found.rule)}: {RULES.get(found.rule.name, '')}", False),
        ("Adjacency", str(found.opened.adjacency), False),
        ("Format of the entries", str(evidence.state.format), False),
        ("This report made by", version, False),
    )
    if evidence.unreadable:
        facts = (*facts, ("Entries that could not be read, and are left out", f"{evidence.unreadable:,}", False))
    table = Table(
        "The ledger", columns("Fact", "Value"), tuple(row(name, Cell(value, code=code)) for name, value, code in facts)
    )
    keep = (
        "Keep the head digest where the curator cannot change it. The next verification that is told to expect it "
        "finds out whether any of these entries was changed, lost, or rolled back."
    )
    return ReportSection("books", "The ledger itself", (table, Text(keep)))


def _described(rule: Composition) -> str:
    rest = [f"{name} {value}" for name, value in rule.describe().items() if name != "name"]
    return f"{rule.name} ({', '.join(rest)})" if rest else rule.name
