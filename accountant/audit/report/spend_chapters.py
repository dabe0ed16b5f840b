"""The sections of a report about the spending: by whom, on what, by other rules, by another accountant, loose ends."""

import math
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Final

from accountant.audit import (
    READ_AT,
    Odometer,
    ReadOut,
    Share,
    epsilon_at,
    from_spending,
    in_symbols,
    left_text,
    percent,
    rounded_up,
    spent_text,
)
from accountant.audit.report.burn_down import moment
from accountant.audit.report.chapters import RULES, Findings, and_more
from accountant.audit.report.evidence import label, part_of
from accountant.audit.report.page import (
    MOST_OF_A_SENTENCE,
    MOST_ROWS,
    Cell,
    Heading,
    Part,
    ReportSection,
    Table,
    TableRow,
    Text,
    columns,
    counted,
    listing,
    row,
    shown,
)
from accountant.audit.report.released import Group, Range
from accountant.costs import ApproxDP, Cost
from accountant.entries import Account

if TYPE_CHECKING:
    from accountant.audit.second_opinion import SecondOpinion

MOST_COSTS: Final = 3
"""Different costs of one mechanism that a table spells out."""


# --- by whom, and on what ---------------------------------------------------------------------------------


def spend(found: Findings) -> ReportSection:
    """Sub-budgets, accounts, mechanisms as they were charged, and as they were drawn."""
    if not found.evidence.spending.charges:
        return ReportSection("spend", "Who spent it, and on what", (_budgets(found), Text("Nothing was charged yet.")))
    read = from_spending(found.evidence.spending)
    parts = (_budgets(found), _by_account(found, read), _by_mechanism(found, read), *_drawn(found))
    return ReportSection("spend", "Who spent it, and on what", parts)


def _budgets(found: Findings) -> Table:
    """The whole budget and its sub-budgets, nested."""
    ordered = sorted(found.evidence.state.accounts.values(), key=lambda account: account.path.split("/"))
    return Table(
        "Budgets and sub-budgets",
        columns("Account", "Ceiling", "Drawn of it", "Left to it", "Drawn, read as", "State"),
        tuple(_account(found, account) for account in ordered[:MOST_ROWS]),
        "A charge draws on the sub-budget that it names, and counts in every budget above. What a budget has set aside "
        "for those below is not left to it. Ceilings and what is left are rounded down, what is drawn is rounded up.",
        and_more(len(ordered), "sub-budgets"),
    )


def _account(found: Findings, account: Account) -> TableRow:
    drawn, part = spent_text(account.drawn, found.rule), part_of(account.drawn, account.ceiling)
    name = shown(account.path.rpartition("/")[2]) if account.path else "the whole budget"
    return row(
        Cell(name, depth=account.path.count("/") + 1 if account.path else 0, code=bool(account.path)),
        left_text(account.ceiling, found.rule),
        Cell(drawn) if account.ceiling.endless else Cell(drawn, under=percent(part), share=min(part, 1.0)),
        left_text(account.left, found.rule),
        in_symbols(found.rule.guarantee(account.drawn, found.opened.budget)),
        Cell("closed" if account.closed else "open"),
        strong=not account.path,
    )


def _by_account(found: Findings, read: Odometer) -> Table:
    rows = tuple(row(Cell(shown(each.name), code=True), *_shares(found, each)) for each in read.by_account[:MOST_ROWS])
    return Table(
        "By account",
        columns("Account", "Charged", "Share of the total"),
        rows,
        "An account is who or what a charge was for. Rounds that were given back are left out; charges that were never "
        "released are not.",
        and_more(len(read.by_account), "accounts"),
    )


def _by_mechanism(found: Findings, read: Odometer) -> Table:
    rows = tuple(
        row(Cell(shown(each.name), under=_costs(found, each.name)), *_shares(found, each))
        for each in read.by_mechanism[:MOST_ROWS]
    )
    return Table(
        "By mechanism, as it was charged",
        columns("Mechanism, query and cost of each round", "Charged", "Share of the total"),
        rows,
        "A charge for several rounds is named as it was announced; one that announced nothing is called a plan.",
        and_more(len(read.by_mechanism), "mechanisms"),
    )


def _shares(found: Findings, each: Share) -> tuple[Cell, Cell]:
    return (
        Cell(spent_text(each.amount, found.rule)),
        Cell(percent(each.share), share=min(each.share, 1.0)),
    )


def _costs(found: Findings, name: str) -> str:
    costs = +found.evidence.costs.get(name, Counter())
    said = [f"{rounds:,} × {cost_text(cost)}" for cost, rounds in costs.most_common(MOST_COSTS)]
    rest = len(costs) - len(said)
    return "; ".join(said) + (f"; and {counted(rest, 'other cost')}" if rest else "")


def cost_text(cost: Cost) -> str:
    """A cost by its kind and its numbers, rounded up."""
    numbers = {name: value for name, value in cost.as_dict().items() if name != "kind"}
    said = ", ".join(f"{_GREEK[name]} = {rounded_up(float(value))}" for name, value in numbers.items())
    return f"{cost.kind} {said}".rstrip()


_GREEK: Final = {"epsilon": "ε", "delta": "δ", "rho": "ρ", "mu": "μ", "sampling_rate": "q"}


def _drawn(found: Findings) -> tuple[Part, ...]:
    groups = sorted(found.evidence.drawn.groups(), key=lambda group: -group.rounds)
    if not groups:
        return (Text("Nothing was released yet."),)
    table = Table(
        "By mechanism, as it was released",
        columns("Mechanism and query", "Rounds", "Sensitivity", "ζ", "Noise"),
        tuple(_group(group) for group in groups[:MOST_ROWS]),
        "What was really drawn. The sensitivity bounds how far one record moves the query, in the norm that is named; "
        "where it was proved for weightings that move by at most ζ, that bound was certified for the data.",
        and_more(len(groups), "mechanisms"),
    )
    return (table,)


def _group(group: Group) -> TableRow:
    return row(
        Cell(shown(f"{group.mechanism}({group.query})"), under=_parameters(group)),
        f"{group.rounds:,}",
        f"{_range(group.sensitivity)} in {shown(group.norm, 40)}",
        "-" if group.zeta is None else _range(group.zeta),
        Cell(shown(group.noise, 60), code=True),
    )


def _parameters(group: Group) -> str:
    said = [f"{name} = {_range(numbers)}" for name, numbers in group.numbers.items()]
    said += [f"{name} = {' or '.join(words)}" for name, words in group.words.items()]
    return shown(", ".join(said)) + (", and others" if group.more_words else "")


def _range(numbers: Range) -> str:
    low, high = _number(numbers.low), _number(numbers.high)
    return high if low == high else f"{low} to {high}"


def _number(value: float) -> str:
    return rounded_up(value) if math.isfinite(value) else str(value)


# --- by other rules, and by another accountant ----------------------------------------------------------------


def other_rules(found: Findings) -> ReportSection:
    """What every other rule, and every theorem for fixed plans, would have given for the same rounds."""
    return ReportSection("rules", "What other rules would have given", tuple(_other_rules(found)))


def _other_rules(found: Findings) -> Iterator[Part]:
    if not found.evidence.spending.charges:
        yield Text("Nothing was charged yet, so there is nothing to compare.")
        return
    delta = reading_delta(found)
    where = f"δ = {rounded_up(delta)}"
    read = from_spending(found.evidence.spending)
    ours = epsilon_at(found.rule, found.evidence.state.total, delta)
    rows = [
        row(
            Cell(found.rule.name, under=RULES.get(found.rule.name, "")),
            _epsilon(ours),
            "the ledger's own rule: the guarantee" + (", with plans at their prices" if read.priced else ""),
            strong=True,
        )
    ]
    # Of a ledger with priced plans, its own rule over single rounds is another number.
    others = [each for each in read.other_rules(delta) if read.priced or each.name != found.rule.name]
    rows += [_read_out(each, each.epsilon, found.rule.name) for each in others if each.epsilon is not None]
    silent = [f"{each.name}: {each.note}" for each in others if each.epsilon is None]
    yield Text(
        f"The same rounds, added up by every rule and theorem that applies, read at {where}. Only what the ledger's "
        "own rule gives is a guarantee; the others say what another choice would have cost."
    )
    yield Table(f"ε at {where} by rule", columns("Rule or theorem", "ε", "What it holds for"), tuple(rows))
    if silent:
        yield Text("No total by these, for the costs in this ledger:")
        yield listing(silent)


def _read_out(each: ReadOut, epsilon: float, own: str) -> TableRow:
    what = _THEOREMS.get(each.name, RULES.get(each.name, ""))
    plain = "no plan priced as one thing" if each.name == own else "had the ledger been opened under it"
    return row(Cell(each.name, under=what), _epsilon(epsilon), each.note or plain)


_THEOREMS: Final[Mapping[str, str]] = {
    "kov": "optimal composition of equal (ε, δ) costs, a closed form for unequal ones",
    "renyi": "Rényi curves of each kind of cost, added up",
    "gdp": "Gaussian costs, added up exactly",
    "pld": "dominating pairs of distributions, convolved",
    "bounded-range": "an upper bound on the adaptive optimum for bounded-range costs",
}


def _epsilon(value: float) -> str:
    return rounded_up(value) if math.isfinite(value) else "none at this δ"


def reading_delta(found: Findings) -> float:
    """The δ at which rules are compared: that of the budget, else READ_AT."""
    budget = found.opened.budget
    return budget.delta if isinstance(budget, ApproxDP) and budget.delta else READ_AT


def opinion(second: "SecondOpinion") -> ReportSection:
    """What an independent accountant makes of the same entries."""
    verdict = "agrees with" if second.agrees else "DISAGREES with"
    (name, _, delta, note), *theirs = second.rows()
    ours = "-" if second.ours.epsilon is None else _epsilon(second.ours.epsilon)  # rounded up, as everywhere here
    rows = [row(shown(name), ours, delta, shown(note, MOST_OF_A_SENTENCE), strong=True)]
    rows += [row(shown(name), epsilon, delta, shown(note, MOST_OF_A_SENTENCE)) for name, epsilon, delta, note in theirs]
    parts: list[Part] = [
        Text(f"An independent accountant composed the same entries. It {verdict} this ledger."),
        Table("Totals side by side", columns("Accountant", "ε", "δ", "What it is"), tuple(rows)),
    ]
    if second.disagreements:
        parts += [Heading("Disagreements"), listing(second.disagreements)]
    if second.explanations:
        parts += [Heading("How to read the differences"), listing(second.explanations)]
    return ReportSection("second-opinion", "A second opinion", tuple(parts))


# --- what is not simply charged and released ----------------------------------------------------------------


def loose_ends(found: Findings) -> ReportSection:
    """Charges without a release, rounds that were given back, plans that were priced as one thing."""
    parts = [_waiting(found), _given_back(found), _plans(found)]
    return ReportSection("loose-ends", "Open charges, rounds given back, plans", tuple(parts))


def _waiting(found: Findings) -> Part:
    waiting = found.evidence.waiting
    if not waiting:
        return Text("Every charge was followed by its release.")
    rows: list[TableRow] = []
    for number in sorted(waiting)[:MOST_ROWS]:
        charge, known = found.evidence.state.open[number], waiting[number]
        rows.append(
            row(
                f"{number:,}",
                moment(known.time),
                Cell(shown(charge.account), code=True),
                shown(label(known.mechanism)),
                f"{charge.rounds:,}",
                spent_text(charge.amount, found.rule),
            )
        )
    return Table(
        "Charges without a release",
        columns("Entry", "Charged at", "Account", "For", "Rounds", "Cost"),
        tuple(rows),
        "They count as spent: a crash, or a reservation that is still open, may have released something.",
        and_more(len(waiting), "open charges"),
    )


def _given_back(found: Findings) -> Part:
    given, number = found.evidence.given_back, found.evidence.kinds["returned"]
    if not given:
        return Text("No rounds were given back.")
    return Table(
        "Rounds that were given back unused",
        columns("Entry", "At", "Of the charge in entry", "Rounds", "Amount"),
        tuple(
            row(
                f"{back.number:,}",
                moment(back.record.time),
                f"{back.record.charge:,}",
                f"{back.record.rounds:,}",
                left_text(back.record.amount, found.rule),
            )
            for back in given[:MOST_ROWS]
        ),
        more=and_more(number, "entries that gave rounds back"),
    )


def _plans(found: Findings) -> Part:
    plans, number = found.evidence.plans, found.evidence.spending.routes.total()
    if not plans:
        return Text("No plan was priced as one thing.")
    rows: list[TableRow] = []
    for plan in plans[:MOST_ROWS]:
        assert plan.record.price is not None  # that is what makes it a priced plan
        rows.append(
            row(
                f"{plan.number:,}",
                Cell(shown(plan.record.account), code=True),
                f"{plan.record.plan.rounds:,}",
                in_symbols(plan.record.price),
                Cell(shown(plan.record.route), code=True),
            )
        )
    return Table(
        "Plans that were charged as one thing",
        columns("Entry", "Account", "Rounds", "Price", "By the theorem"),
        tuple(rows),
        "The costs of such a plan were fixed before its first release, so a theorem for fixed costs may price it.",
        and_more(number, "plans"),
    )
