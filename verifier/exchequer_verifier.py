"""An independent verifier of Exchequer's ledgers: plain Python, written from LEDGER.md ("The format") and nothing else.

Sums are exact, in whole units of 2^-1074. Reading stops at the first finding. What it does not check, LEDGER.md says.
"""

import hashlib
import json
import math
import sqlite3
import sys
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from types import SimpleNamespace as Node
from typing import Any

Amount = tuple[int, int]
Entry = tuple[Any, Any, Any, Any]
UNIT, NOTHING, CODES = 1 << 1074, (0, 0), {"sound": 0, "not sound": 1, "unreadable": 2, "with caveats": 3}
ONE_EPSILON, SAMPLED = ("pure-dp", "laplace-dp", "bounded-range"), "subsampled-gaussian"
COSTS = {**dict.fromkeys(ONE_EPSILON, "epsilon"), "approx-dp": "epsilon delta", "zcdp": "rho", "gdp": "mu"}
COSTS |= {SAMPLED: "mu sampling_rate", "unbounded": ""}
PARTS = {"opened": "adjacency budget composition format id", "released": "charge used", "upgraded": "format"}
PARTS |= {"charged": "account adjacency after mechanism priced steps", "returned": "after amount charge rounds"}
PARTS |= {"allocated": "account ceiling", "announced": "account", "closed": "account returned"}
PARTS |= {"checkpoint": "state", "produced": "charges model"}
DESCRIBED = "claims mechanism noise norm parameters private query sensitivity zeta"
KEEPS = {"basic": "pure-dp approx-dp", "zcdp": "zcdp approx-dp", "gdp": "gdp approx-dp", "no-bound": "unbounded"}
KEEPS |= {"advanced": "approx-dp", "advanced-tight": "approx-dp"}
ROUTES = ("basic", "kov", "zcdp", "renyi", "gdp", "laplace", "pld", "bounded-range")


class Wrong(Exception):
    """What must not be in a ledger."""


class Unreadable(Exception):
    """No ledger, or none that can be checked here."""


def need(holds: object, otherwise: str) -> None:
    if not holds:
        raise Wrong(otherwise)


# --- numbers ---


def of(value: float) -> int:
    numerator, denominator = value.as_integer_ratio()
    return numerator * (UNIT // denominator)


def up(value: float) -> float:
    return math.nextafter(value + abs(value) * 2.0**-40, math.inf)


def text(units: int) -> str:
    zeros = (units & -units).bit_length() - 1
    return f"{units >> zeros:x}p{zeros - 1074}" if units else "0p0"


def rho(kind: str, a: float, b: float) -> float:
    """The ρ of a cost."""
    if a == 0.0 or kind == "zcdp" or (kind == SAMPLED and b == 0.0):
        return a if kind == "zcdp" else 0.0
    if kind in ("gdp", SAMPLED):
        return up(0.5 * a * a)
    if kind in ("pure-dp", "approx-dp"):
        return up(a * math.tanh(0.5 * a))
    if kind == "bounded-range":
        u = a / -math.expm1(-a)
        return up(a * a / 8.0 if a < 2.0**-7 else u - 1.0 - math.log1p(u - 1.0))
    rest = 1.0  # laplace-dp
    for place in range(16, 2, -1):
        rest = 1.0 - a / place * rest
    return up(a + math.expm1(-a) if a >= 1.0 else 0.5 * a * a * rest)


def amount(rule: str, kind: str, a: float, b: float) -> Amount:
    """What one release of a cost adds to the total."""
    fits, nothing = f"the rule {rule} takes no {kind}", kind == SAMPLED and not (a and b)
    delta = of(b) if kind == "approx-dp" else 0
    if rule == "no-bound":
        return UNIT, 0
    if rule == "basic":
        need(kind in (*ONE_EPSILON, "approx-dp") or nothing, fits)
        return (0 if nothing else of(a)), delta
    if rule == "gdp":
        need(kind in ("gdp", SAMPLED) or (kind in (*ONE_EPSILON, "zcdp") and a == 0.0), fits)
        need(a <= 2.0**500, "it comes to a loss beyond any float")
        return (0 if kind == SAMPLED and not b else -(-(of(a) ** 2) // UNIT)), 0
    need(kind != "unbounded" and (rule != "zcdp" or not delta), fits)
    if rule == "advanced" and kind in ("pure-dp", "approx-dp"):
        return of(up(a * a)), delta
    return of(rho(kind, a, b)) * (2 if rule == "advanced" else 1), delta


def zcdp_epsilon(total: float, delta: float) -> float:
    """The least ε of ρ-zCDP over all orders 1 + e^s, by golden section; rounded up."""

    def at(s: float) -> float:
        order, excess = 1.0 + math.exp(s), math.exp(s)
        return total * order + math.log(excess / order) - (math.log(delta) + math.log(order)) / excess

    low, high, golden = -12.0, 40.0, (math.sqrt(5.0) - 1.0) / 2.0
    for _ in range(60):
        x, y = high - golden * (high - low), low + golden * (high - low)
        low, high = (low, y) if at(x) <= at(y) else (x, high)
    simple = up(total + 2.0 * math.sqrt(total * -math.log(delta)))
    return min(simple, max(0.0, up(at(low) + 1e-12 * total)) + 2.0**-46) if total else 0.0


def search(beyond: Callable[[float], bool]) -> float:
    """The place where this turns from false to true, to 13 digits, from above."""
    low, high = 0.0, 1.0
    while not beyond(high):
        low, high = high, 2.0 * high
    while high - low > 1e-13 * high and high > 1e-300:
        middle = 0.5 * (low + high)
        low, high = (low, middle) if beyond(middle) else (middle, high)
    return high


def gaussian_epsilon(mu: float, delta: float) -> float:
    """The least ε with Φ(μ/2 − ε/μ) − e^ε Φ(−μ/2 − ε/μ) <= δ, rounded up."""

    def fits(e: float) -> bool:
        first, second = (math.erfc((e / mu + sign * 0.5 * mu) / math.sqrt(2.0)) for sign in (-1.0, 1.0))
        return e > 600.0 or 0.5 * (first - math.exp(e) * second) <= delta

    return 0.0 if mu == 0.0 or fits(0.0) else up(search(fits)) + 2.0**-46


def plus(one: Amount, other: Amount, sign: int = 1) -> Amount:
    return max(0, one[0] + sign * other[0]), max(0, one[1] + sign * other[1])


def in_text(pair: Amount) -> dict[str, str]:
    return {"loss": text(pair[0]), "delta": text(pair[1])}


# --- parts of entries ---


def canonical(value: object) -> str:
    return json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False)


def parts(value: Any, names: str) -> Any:
    need(isinstance(value, dict) and value.keys() == set(names.split()), f"expected exactly these parts: {names}")
    return value


def whole(value: Any, least: int = 0) -> Any:
    need(type(value) is int and value >= least, f"expected a whole number of at least {least}, got {value!r:.99}")
    return value


def amount_of(value: Any) -> Amount:
    found = []
    for written in (parts(value, "delta loss")["loss"], value["delta"]):
        digits, _, exponent = written.partition("p")
        need(0 <= int(exponent[:8]) + 1074 <= 2148 - 4 * len(digits), f"{written!r:.99} is beyond any float")
        found.append(int(digits, 16) << (int(exponent[:8]) + 1074))
        need(found[-1] >= 0 and text(found[-1]) == written, f"{written!r:.99} is not how an amount is written")
    return found[0], found[1]


def cost_of(value: Any) -> tuple[str, float, float]:
    numbers = [parts(value, f"kind {COSTS[value['kind']]}")[name] for name in COSTS[value["kind"]].split()]
    need(all(isinstance(x, float) and 0.0 <= x < math.inf and str(x)[0] != "-" for x in numbers), "it is no cost")
    need(value.get("delta", 0.0) < 1.0 and value.get("sampling_rate", 0.0) <= 1.0, "a chance above 1")
    return (value["kind"], *[*numbers, 0.0, 0.0][:2])


def is_private(value: Any) -> bool:
    """Whether a mechanism draws noise that is no simulation; its bounds must be some that can be."""
    bound, zeta = parts(value, DESCRIBED)["sensitivity"], value["zeta"]
    need((bound == 0 and value["norm"] == "none") or 0 < bound <= sys.float_info.max, "a sensitivity that cannot be")
    need(type(bound) is not bool and (zeta is None or 0 <= zeta <= 1), "a sensitivity, or a ζ, that cannot be")
    need(type(value["private"]) is bool, "private is true or false")
    return bool(value["private"])


# --- the ledger ---


class Ledger:
    """What the entries so far add up to."""

    def __init__(self) -> None:
        self.length, self.time, self.head, self.format = 0, 0, "0" * 64, 0
        self.accounts: dict[str, Any] = {}
        self.open: dict[int, Any] = {}
        self.labels: list[str] = []
        self.simulated, self.believed = False, 0

    def take(self, number: Any, kind: Any, line: Any, digest: Any) -> None:
        """The next entry. Raises Wrong."""
        try:
            found = hashlib.sha256((self.head + line).encode("ascii")).hexdigest()
            need(found == digest, "its digest does not match its content and the entry before it")
            record = json.loads(line)
            need(canonical(record) == line, "its line is not canonical JSON")
            need(whole(record["number"]) == whole(number) == self.length, f"it is not numbered {self.length}")
            need(record["kind"] == kind, "it is of another kind than it is called")
            more = " ".join({"about", "amount"} & record.keys()) if kind == "charged" else ""
            parts(record, f"kind number time {PARTS[kind]} {more}")
            need(self.time <= whole(record["time"]) < 10**19, "its time is before that of the entry before it")
            need((kind == "opened") is (self.length == 0), "a ledger is opened once, by its first entry")
            getattr(self, f"_{kind}")(record)
        except (ValueError, TypeError, LookupError, AttributeError, ArithmeticError, RecursionError) as error:
            raise Wrong(f"it cannot be read ({type(error).__name__}: {error})") from None
        self.length, self.time, self.head = self.length + 1, record["time"], found

    def _opened(self, record: Any) -> None:
        rule, self.adjacency, self.budget = record["composition"], record["adjacency"], cost_of(record["budget"])
        self.rule, (kind, a, b), self.format = rule["name"], self.budget, whole(record["format"], 1)
        advanced = self.rule in ("advanced", "advanced-tight")
        if self.rule not in KEEPS and isinstance(rule.get("version"), str):
            raise Unreadable(f"costs add up by {self.rule!r}, a rule of another package")
        need(
            kind in KEEPS[self.rule].split() and self.format <= 2,
            "an unknown format, or a rule that cannot keep its budget",
        )
        self.prime = of(parts(rule, "name delta_prime")["delta_prime"]) if advanced else 0
        self.delta = rule["delta_prime"] if advanced else b
        self.converted = kind == "approx-dp" and self.rule != "basic"
        need(not self.converted or 0.0 < self.delta <= b, "its rule cannot keep a budget of this δ")
        loss = of(a) if self.rule != "gdp" else of(min(a, 2.0**500)) ** 2 // UNIT
        loss = of(search(lambda x: self.value(of(x)) > a)) if self.converted else loss
        loss = 1 << 2100 if kind == "unbounded" else loss + self.converted * (loss >> 20)
        self._set_aside("", None, (loss, of(b) - self.prime if self.rule == "basic" or advanced else 0))

    def _set_aside(self, path: str, parent: Any, ceiling: Amount) -> None:
        self.accounts[path] = Node(path=path, parent=parent, ceiling=ceiling, drawn=NOTHING, held=NOTHING, closed=False)

    def value(self, loss: int) -> float:
        """What a sum comes to in the budget's kind: its ε, ρ or μ, rounded up."""
        total = loss / UNIT
        total = total if of(total) >= loss else math.nextafter(total, math.inf)
        if self.rule == "gdp":
            total = math.nextafter(math.nextafter(math.sqrt(total), 0.0), 0.0)
            while of(total) ** 2 < loss * UNIT:
                total = math.nextafter(total, math.inf)
        if not self.converted:
            return total
        if self.rule == "advanced":
            return up(math.sqrt(-2.0 * math.log(self.delta) * total) + 0.5 * total) if total else 0.0
        return (gaussian_epsilon if self.rule == "gdp" else zcdp_epsilon)(total, self.delta)

    def spent(self) -> dict[str, object]:
        """The total as a cost of the budget's kind, rounded up."""
        (kind, a, b), (loss, delta) = self.budget, self.accounts[""].drawn
        names = COSTS[kind].split()
        value = 0.0 if kind == "unbounded" else self.value(loss)
        own = b if self.rule in ("zcdp", "gdp") else (delta + self.prime) / UNIT
        own = own if of(own) >= delta + self.prime else math.nextafter(own, math.inf)
        return {"kind": kind, **dict(zip(names, (min(value, a) if self.converted else value, own), strict=False))}

    def _payer(self, account: str) -> Any:
        """The longest beginning of a path that was set aside."""
        found, path = self.accounts[""], ""
        for place, part in enumerate(account.split("/")):
            path = f"{path}/{part}" if place else part
            if not part or path not in self.accounts:
                break
            found = self.accounts[path]
        return found

    def _afford(self, payer: Any, amount: Amount, what: str) -> None:
        need(not payer.closed, f"{what} the sub-budget {payer.path!r}, which is closed")
        need(
            all(a + b <= c for a, b, c in zip(payer.held, amount, payer.ceiling, strict=True)),
            f"{what} more than is left",
        )
        payer.held = plus(payer.held, amount)

    def _sum(self, steps: list[Any]) -> Amount:
        each = [(amount(self.rule, *cost), rounds) for cost, rounds in steps]
        return sum(a * n for (a, _), n in each), sum(b * n for (_, b), n in each)

    def _charged(self, record: Any) -> None:
        steps = [(cost_of(parts(x, "cost rounds")["cost"]), whole(x["rounds"], 1)) for x in record["steps"]]
        need(
            (steps and all(cost[0] != SAMPLED for cost, _ in steps)) or self.adjacency["name"] == "add-remove-one",
            "no steps, or of another adjacency",
        )
        need(canonical(record["adjacency"]) == canonical(self.adjacency), "its adjacency is not that of the ledger")
        private = None if record["mechanism"] is None else is_private(record["mechanism"])
        amount = self._sum(steps if (price := record["priced"]) is None else [(self._price(steps, price), 1)])
        need(
            ("amount" in record) is (self.format == 2) and ("about" not in record or self.format == 2),
            "its parts are not those of its format",
        )
        need(self.format == 1 or amount_of(record["amount"]) == amount, "its amount is not what its costs come to")
        payer, rounds = self._payer(record["account"]), sum(n for _, n in steps)
        self._afford(payer, amount, "it charges")
        self._draw(payer, amount)
        need(amount_of(record["after"]) == self.accounts[""].drawn, "its total is not the sum of the costs so far")
        self.simulated |= private is False
        self.open[self.length] = Node(
            account=record["account"],
            payer=payer,
            amount=amount,
            rounds=rounds,
            steps=steps,
            price=price,
            private=private,
            whole=rounds,
        )

    def _price(self, steps: list[Any], price: Any) -> Any:
        """The cost that a plan was charged at; only that of Gaussian plans is computed again."""
        kind, epsilon, delta = cost = cost_of(parts(price, "cost route")["cost"])
        need(kind == "approx-dp" and price["route"] in ROUTES, "it is priced by no theorem that is known")
        if all(step[0] == "gdp" for step, _ in steps):
            mu = math.sqrt(sum(of(step[1]) ** 2 * n for step, n in steps) / UNIT**2)
            need(
                delta > 0.0 and gaussian_epsilon(mu, delta) <= epsilon * (1.0 + 1e-9),
                "its plan costs more than its price",
            )
        else:
            self.believed += 1
        return cost

    def _draw(self, payer: Any, amount: Amount, sign: int = 1) -> None:
        """Count a charge, or what comes back of it, in the account that pays and in all around it."""
        while payer is not None:
            payer.drawn = plus(payer.drawn, amount, sign)
            payer = payer.parent

    def _released(self, record: Any) -> None:
        charge, used = self.open.pop(whole(record["charge"])), [parts(x, "mechanism rounds") for x in record["used"]]
        simulated = [not is_private(x["mechanism"]) for x in used]
        need(sum(whole(x["rounds"], 1) for x in used) <= charge.rounds, "it releases more rounds than were charged")
        single = charge.whole == 1 and charge.price is None and charge.private is not None
        need(used or single, "it does not say what was released of a plan")
        need(not (any(simulated) and charge.private), "it releases simulated noise where secure noise was charged for")
        self.simulated |= any(simulated)

    def _returned(self, record: Any) -> None:
        charge, rounds, back = (
            self.open[whole(record["charge"])],
            whole(record["rounds"], 1),
            amount_of(record["amount"]),
        )
        need(charge.rounds == charge.whole and rounds <= charge.rounds, "these rounds are not there to be given back")
        need(charge.price is None or rounds == charge.whole, "it gives back a part of what has one price")
        rest, skip = [], charge.whole - rounds
        for cost, n in charge.steps:
            rest.append((cost, max(0, n - skip)))
            skip = max(0, skip - n)
        need(
            back == (charge.amount if charge.price else self._sum(rest)),
            "it gives back another amount than was charged",
        )
        payer = charge.payer
        self._draw(payer, back, -1)
        payer.held = plus(payer.held, back, -1)
        while payer.closed:
            payer = payer.parent
            payer.held = plus(payer.held, back, -1)
        charge.rounds, charge.amount = charge.rounds - rounds, plus(charge.amount, back, -1)
        if not charge.rounds:
            del self.open[record["charge"]]
        need(amount_of(record["after"]) == self.accounts[""].drawn, "its total is not the sum of the costs so far")

    def _new_path(self, path: str) -> Any:
        """The account around a path that is not in use."""
        need(path != "main" and all(x and x == x.strip() for x in path.split("/")), f"{path!r:.99} is no path")
        need(path not in self.accounts and path not in self.labels, f"{path!r} is in use")
        need(not self._payer(path).closed, "the sub-budget around it is closed")
        return self._payer(path)

    def _allocated(self, record: Any) -> None:
        path, parent, ceiling = record["account"], self._new_path(record["account"]), amount_of(record["ceiling"])
        need(
            self.rule != "no-bound" and path.rpartition("/")[0] == parent.path,
            "there is nothing that it could be a part of",
        )
        need(not any(label.startswith(f"{path}/") for label in self.labels), "something in it was announced")
        self._afford(parent, ceiling, "it sets aside")
        self._set_aside(path, parent, ceiling)

    def _announced(self, record: Any) -> None:
        self._new_path(record["account"])
        need(len(record["account"]) <= 1000, "its label is too long")
        self.labels.append(record["account"])

    def _closed(self, record: Any) -> None:
        account = self.accounts[record["account"]]
        inside = [x for x in self.accounts.values() if x.parent is account and not x.closed]
        need(account.parent and not account.closed and not inside, "it closes what is closed, or has open parts")
        need(
            amount_of(record["returned"]) == plus(account.ceiling, account.drawn, -1),
            "it returns another amount than was left",
        )
        account.parent.held, account.closed = plus(account.parent.held, amount_of(record["returned"]), -1), True

    def _upgraded(self, record: Any) -> None:
        need(
            self.format == 1 and whole(record["format"]) == 2,
            "it upgrades to a format that it has, or that is not known",
        )
        self.format = 2

    def _produced(self, record: Any) -> None:
        charges, model = record["charges"], record["model"]
        need(
            self.format == 2 and charges == sorted({whole(x) for x in charges}) and charges[-1] < self.length,
            "no such charges",
        )
        need(len(model) == 64 and not set(model) - set("0123456789abcdef"), "its model is no digest")

    def _checkpoint(self, record: Any) -> None:
        root, written = self.accounts[""], amount_of(record["state"]["accounts"][0]["ceiling"])
        if self.converted and written[1] == root.ceiling[1] and 0 <= root.ceiling[0] - written[0] <= written[0] >> 19:
            root.ceiling = written  # nobody else finds the same last digits
        said: dict[str, Any] = {"accounts": [], "open": [], "labels": self.labels, "format": self.format}
        for path, x in self.accounts.items():
            sums = {"ceiling": in_text(x.ceiling), "committed": in_text(x.held), "drawn": in_text(x.drawn)}
            said["accounts"].append({"account": path, "closed": x.closed, **sums})
        for number, x in self.open.items():
            line = {"account": x.account, "amount": in_text(x.amount), "number": number, "payer": x.payer.path}
            said["open"].append({**line, "rounds": x.rounds})
        left_out = [name for name, nothing in (("labels", []), ("format", 1)) if said[name] == nothing]
        for name in left_out:
            del said[name]
        need(canonical(record["state"]) == canonical(said), "its state is not what the entries before it add up to")


# --- files ---


def entries_of(path: Path) -> Iterator[Entry]:
    """Of an export, or of a SQLite file, which is opened for reading only."""
    if path.read_bytes()[:15] == b"SQLite format 3":
        with sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True) as connection:
            yield from connection.execute("SELECT number, kind, line, digest FROM exchequer_entries ORDER BY number")
        return
    lines = path.read_text("ascii").splitlines()
    each = [parts(json.loads(line), "digest kind line number") for line in lines[1:]]
    first = parts(json.loads(lines[0]), "entries exchequer head id schema")
    same = [canonical(x) for x in (first, *each)] == lines and (first["exchequer"], first["schema"]) == ("ledger", 1)
    need(same and first["entries"] == len(each), "it is no export, or was cut off, or is written otherwise")
    need(first["head"] == (each[-1]["digest"] if each else "0" * 64), "its head is not that of its last entry")
    yield from ((x["number"], x["kind"], x["line"], x["digest"]) for x in each)


def verify(entries: Iterable[Entry], expected: str = "") -> tuple[str, list[str], Ledger]:
    """The verdict, why, and what the entries add up to. expected: a digest that was kept, and must be there."""
    ledger, seen = Ledger(), not expected
    try:
        for entry in entries:
            ledger.take(*entry)
            seen |= ledger.head == expected
        need(ledger.accounts, "the ledger was never opened")
        need(seen, "no entry has the head that was expected: entries were cut off, or the ledger was rewritten")
    except Wrong as error:
        return "not sound", [f"entry {ledger.length}: {error}"], ledger
    caveats = [f"{len(ledger.open)} charges without a release: they count as spent"] if ledger.open else []
    caveats += ["simulated noise was drawn: such releases are not private"] if ledger.simulated else []
    caveats += ["nothing is promised: the budget is unbounded"] if ledger.rule == "no-bound" else []
    return ("with caveats" if caveats else "sound"), caveats, ledger


def main() -> None:
    """exchequer-verifier FILE [HEAD]: the file of a ledger, and a digest that was kept."""
    verdict, why, ledger = "unreadable", [str(main.__doc__)], Ledger()
    try:
        verdict, why, ledger = verify(list(entries_of(Path(sys.argv[1]))), *sys.argv[2:3])
    except (Wrong, Unreadable, OSError, ValueError, LookupError, sqlite3.Error) as error:
        why = [str(error)]
    print(f"{verdict}: {ledger.length} entries, head {ledger.head}", *why, sep="\n  ")
    if verdict in ("sound", "with caveats"):
        print(
            f"  spent {ledger.spent()} of {ledger.budget}; {ledger.believed} plans at a price that is not computed again"
        )
    sys.exit(CODES[verdict])


if __name__ == "__main__":
    main()
