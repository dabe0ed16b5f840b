"""An independent verifier of Exchequer's ledgers: plain Python that follows LEDGER.md, "The format".

Reading stops at the first finding. Whole numbers stand for amounts, see `exchequer_format`.
"""

import hashlib
import json
import math
import sqlite3
import sys
from collections.abc import Iterable
from pathlib import Path
from types import SimpleNamespace as Node
from typing import Any

import exchequer_format as form
from exchequer_format import SAMPLED, UNIT, Wrong, amount_of, canonical, cost_of, in_text, need, parts, whole
from exchequer_signatures import Writers

# fmt: off
PARTS = {"opened": "adjacency budget composition format id", "released": "charge used", "upgraded": "format",
         "charged": "account adjacency after mechanism priced steps", "returned": "after amount charge rounds",
         "allocated": "account ceiling", "announced": "account", "closed": "account returned", "checkpoint": "state",
         "produced": "charges model", "signed": "charges head key signature",
         "key": "action administrator by head key name proof signature"}
# --- the ledger ---

class Ledger:
    """What the entries so far add up to."""

    def __init__(self) -> None:
        self.length, self.time, self.head, self.simulated, self.believed = 0, 0, "0" * 64, False, 0
        self.accounts: dict[str, Any] = {}
        self.open: dict[int, Any] = {}
        self.labels: list[str] = []

    def take(self, number: Any, kind: Any, line: Any, digest: Any) -> None:
        """The next entry. Raises Wrong."""
        try:
            found = hashlib.sha256((self.head + line).encode("ascii")).hexdigest()
            need(found == digest, "its digest does not match its content and the entry before it")
            need(canonical(record := json.loads(line)) == line, "its line is not canonical JSON")
            more = " ".join({"about", "amount"} & record.keys()) if kind == "charged" else ""
            placed = whole(parts(record, f"kind number time {PARTS[kind]} {more}")["number"]) == whole(number)
            need(placed and number == self.length and record["kind"] == kind, "it has another number, or kind")
            need(self.time <= whole(record["time"]) < 10**19, "its time is before that of the entry before it")
            need((kind == "opened") is (self.length == 0), "a ledger is opened once, by its first entry")
            getattr(self, f"_{kind}")(record)
        except (ValueError, TypeError, LookupError, AttributeError, ArithmeticError, RecursionError) as error:
            raise Wrong(f"it cannot be read ({type(error).__name__}: {error})") from None
        self.length, self.time, self.head = self.length + 1, record["time"], found

    def _opened(self, record: Any) -> None:
        rule, self.adjacency, self.format = record["composition"], record["adjacency"], whole(record["format"], 1)
        self.rule, self.budget, self.writers = rule["name"], cost_of(record["budget"]), Writers(record["id"])
        (kind, a, b), advanced = self.budget, self.rule in ("advanced", "advanced-tight")
        if self.rule not in form.KEEPS and isinstance(rule.get("version"), str):
            raise NotImplementedError(f"costs add up by {self.rule!r}, a rule of another package")
        need(kind in form.KEEPS[self.rule].split() and self.format <= 2, "a format, or a budget, that cannot be kept")
        parts(self.adjacency, f"name {form.RELATIONS[self.adjacency['name']]}")
        self.delta = parts(rule, f"name {'delta_prime' if advanced else ''}").get("delta_prime", b)
        self.prime, self.converted = form.of(self.delta) * advanced, kind == "approx-dp" and self.rule != "basic"
        need(not self.converted or 0.0 < self.delta <= b, "its rule cannot keep a budget of this δ")
        loss = form.of(a) if self.rule != "gdp" else form.of(min(a, 2.0**500)) ** 2 // UNIT
        if self.converted:  # a millionth more: no two programs find the same last digits
            loss = form.of(form.search(lambda x: self.value(form.of(x)) > a)) * (2**20 + 1) >> 20
        delta = form.of(b) - self.prime if self.rule == "basic" or advanced else 0
        self._set_aside("", None, (1 << 2100 if kind == "unbounded" else loss) * form.DELTA + delta)

    def value(self, loss: int) -> float:
        """What a sum comes to in the budget's kind: its ε, ρ or μ, rounded up."""
        total = form.float_up(loss)
        if self.rule == "gdp":
            total = math.nextafter(math.nextafter(math.sqrt(total), 0.0), 0.0)
            while form.of(total) ** 2 < loss * UNIT: total = math.nextafter(total, math.inf)
        if not self.converted or not total: return total
        if self.rule == "advanced": return form.up(math.sqrt(-2.0 * math.log(self.delta) * total) + 0.5 * total)
        return (form.gaussian_epsilon if self.rule == "gdp" else form.zcdp_epsilon)(total, self.delta)

    def spent(self) -> dict[str, object]:
        """The total as a cost of the budget's kind, rounded up."""
        (kind, a, b), drawn = self.budget, self.accounts[""].drawn
        value = 0.0 if kind == "unbounded" else self.value(drawn // form.DELTA)
        value = a if self.converted and a < value <= a * (1.0 + 2.0**-30) else value
        both = (value, b if self.rule in ("zcdp", "gdp") else form.float_up(drawn % form.DELTA + self.prime))
        return {"kind": kind, **dict(zip(form.COSTS[kind].split(), both, strict=False))}

    def _set_aside(self, path: str, parent: Any, ceiling: int) -> None:
        self.accounts[path] = Node(path=path, parent=parent, ceiling=ceiling, drawn=0, held=0, closed=False)

    def _payer(self, account: str) -> Any:
        """The longest beginning of a path that was set aside."""
        beginnings = (account.rsplit("/", cut)[0] for cut in range(account.count("/") + 1))
        return self.accounts[next((path for path in beginnings if path in self.accounts), "")]

    def _hold(self, payer: Any, amount: int) -> None:
        payer.held += amount
        (loss, delta), (most, most_delta) = divmod(payer.held, form.DELTA), divmod(payer.ceiling, form.DELTA)
        fits = loss <= most and delta <= most_delta and not payer.closed
        need(fits, f"it takes {payer.path!r} above its ceiling, or that is closed")

    def _draw(self, payer: Any, amount: int, record: Any) -> None:
        """Count what an entry adds in all accounts around it; what a closed one gets back is of the one around it."""
        while payer is not None:
            payer.drawn += amount
            if payer.closed: payer.parent.held += amount
            payer = payer.parent
        need(amount_of(record["after"]) == self.accounts[""].drawn, "its total is not the sum of the costs so far")

    def _sum(self, steps: Iterable[Any]) -> int:
        return sum(form.amount(self.rule, *cost) * rounds for cost, rounds in steps)

    def _charged(self, record: Any) -> None:
        steps = [(cost_of(parts(x, "cost rounds")["cost"]), whole(x["rounds"], 1)) for x in record["steps"]]
        sampled, rounds = any(cost[0] == SAMPLED for cost, _ in steps), sum(n for _, n in steps)
        need(0 < rounds < 1 << 1000 and (not sampled or self.adjacency["name"] == "add-remove-one"), "no such costs")
        need(canonical(record["adjacency"]) == canonical(self.adjacency), "its adjacency is not that of the ledger")
        private = None if record["mechanism"] is None else form.is_private(record["mechanism"])
        price, payer = record["priced"], self._payer(record["account"])
        amount = self._sum(steps if price is None else [(self._price(steps, price), 1)])
        formats = ("amount" in record) is (self.format == 2) and record.get("about", {}).keys() <= form.SAID
        need(formats and ("about" not in record or self.format == 2), "its parts are those of another format")
        need(amount_of(record.get("amount", in_text(amount))) == amount, "its amount is not what its costs come to")
        self._hold(payer, amount)
        self._draw(payer, amount, record)
        self.simulated |= private is False
        charge = {"account": record["account"], "payer": payer, "amount": amount, "left": rounds, "rounds": rounds}
        self.writers.charged(self.length)
        self.open[self.length] = Node(**charge, steps=steps, price=price, private=private)

    def _price(self, steps: list[Any], price: Any) -> Any:
        """What a plan was charged at as one thing; only the price of Gaussian plans is computed again."""
        kind, epsilon, delta = cost = cost_of(parts(price, "cost route")["cost"])
        need(kind == "approx-dp" and price["route"] in form.ROUTES, "it is priced by no theorem that is known")
        gaussian = all(step[0] == "gdp" for step, _ in steps)
        mu = math.sqrt(sum(form.of(step[1]) ** 2 * n for step, n in steps) / UNIT**2)
        need(not gaussian or form.gaussian_epsilon(mu, delta) <= epsilon * 1.000000001, "its price is too low")
        self.believed += not gaussian
        return cost

    def _released(self, record: Any) -> None:
        charge, used = self.open.pop(whole(record["charge"])), [parts(x, "mechanism rounds") for x in record["used"]]
        simulated = not min([form.is_private(x["mechanism"]) for x in used], default=True)
        need(sum(whole(x["rounds"], 1) for x in used) <= charge.left, "it releases more rounds than were charged")
        single = charge.rounds == 1 and charge.price is None and charge.private is not None
        need(used or single, "it does not say what was released of a plan")
        need(not (simulated and charge.private), "it releases simulated noise where secure noise was charged for")
        self.simulated |= simulated

    def _returned(self, record: Any) -> None:
        charge, back, n = self.open[whole(record["charge"])], amount_of(record["amount"]), whole(record["rounds"], 1)
        need(charge.left == charge.rounds >= n and (charge.price is None or n == charge.rounds), "it returns too much")
        rest, skip = [], charge.rounds - n
        for cost, rounds in charge.steps:
            rest.append((cost, max(0, rounds - skip)))
            skip = max(0, skip - rounds)
        last = self._sum(rest) if charge.price is None else charge.amount
        need(back == last, "it gives back another amount than these rounds were charged at")
        charge.payer.held, charge.left, charge.amount = charge.payer.held - back, charge.left - n, charge.amount - back
        self._draw(charge.payer, -back, record)
        if not charge.left: del self.open[record["charge"]]

    def _new_path(self, path: str) -> Any:
        """The account around a path that is not in use."""
        need(path != "main" and all(x and x == x.strip() for x in path.split("/")), f"{path!r:.99} is no path")
        need(not {path} & {*self.accounts, *self.labels} and not self._payer(path).closed, f"{path!r:.99} is in use")
        return self._payer(path)

    def _allocated(self, record: Any) -> None:
        path, parent, ceiling = record["account"], self._new_path(record["account"]), amount_of(record["ceiling"])
        need(self.rule != "no-bound" and path.rpartition("/")[0] == parent.path, "there is nothing that it is part of")
        need(not any(label.startswith(f"{path}/") for label in self.labels), "something in it was announced")
        self._hold(parent, ceiling)
        self._set_aside(path, parent, ceiling)

    def _announced(self, record: Any) -> None:
        need(self._new_path(record["account"]) and len(record["account"]) <= 1000, "its label is too long")
        self.labels.append(record["account"])

    def _closed(self, record: Any) -> None:
        account, back = self.accounts[record["account"]], amount_of(record["returned"])
        inside = [x for x in self.accounts.values() if x.parent is account and not x.closed]
        need(account.parent and not account.closed and not inside, "it closes what is closed, or has open parts")
        need(back == account.ceiling - account.drawn, "it returns another amount than was left")
        account.parent.held, account.closed = account.parent.held - back, True

    def _upgraded(self, record: Any) -> None:
        need(self.format == 1 and whole(record["format"]) == 2, "it upgrades to a format that it has, or is not known")
        self.format = 2

    def _produced(self, record: Any) -> None:
        charges, model = [whole(x) for x in record["charges"]], record["model"]
        need(self.format == 2 and charges == sorted(set(charges)) and charges[-1] < self.length, "no such charges")
        form.hexadecimal(model, 64)

    def _key(self, record: Any) -> None:
        need(self.format == 2 and record["head"] == self.head, "it is of another format, or signs another head")
        (self.writers.change if record["kind"] == "key" else self.writers.sign)(record)

    _signed = _key

    def _checkpoint(self, record: Any) -> None:
        root, written = self.accounts[""], amount_of(record["state"]["accounts"][0]["ceiling"])
        near = range(0, (written // form.DELTA >> 19) * form.DELTA, form.DELTA)
        if self.converted and root.ceiling - written in near: root.ceiling = written
        said: dict[str, Any] = {"format": 2} if self.format == 2 else {}
        said |= {"labels": self.labels} if self.labels else {}
        said |= {"writers": [*self.writers.keys.values()]} if self.writers.keys else {}
        said["accounts"] = [{"account": x.path, "closed": x.closed, "ceiling": in_text(x.ceiling),
                             "committed": in_text(x.held), "drawn": in_text(x.drawn)} for x in self.accounts.values()]
        said["open"] = [{"account": x.account, "amount": in_text(x.amount), "number": number, "payer": x.payer.path,
                         "rounds": x.left} for number, x in self.open.items()]
        need(canonical(record["state"]) == canonical(said), "its state is not what the entries before it add up to")

# --- what came of it ---

def verify(entries: Iterable[Any], expected: str = "") -> tuple[str, list[str], Ledger]:
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
    found = {f"{len(ledger.open)} charges have no release: they count as spent": ledger.open,
             "simulated noise was drawn: its releases are not private": ledger.simulated,
             "nothing is promised: the budget is unbounded": ledger.rule == "no-bound"}
    caveats = [sentence for sentence, holds in found.items() if holds]
    return "with caveats" if caveats else "sound", caveats, ledger

def main() -> None:
    """exchequer-verifier FILE [HEAD]: the file of a ledger, and a digest that was kept."""
    verdict, why, ledger = "unreadable", [str(main.__doc__)], Ledger()
    try:
        verdict, why, ledger = verify(list(form.entries_of(Path(sys.argv[1]))), *sys.argv[2:3])
    except (Wrong, NotImplementedError, OSError, ValueError, TypeError, LookupError, sqlite3.Error) as error:
        why = [f"{type(error).__name__}: {error}"]
    print(f"{verdict}: {ledger.length} entries, head {ledger.head}", *why, sep="\n  ")
    if verdict in ("sound", "with caveats"):
        print(f"  spent {ledger.spent()} of {ledger.budget}; prices that were not computed again: {ledger.believed}")
        print(*(f"  {note}\n" for note in ledger.writers.notes()), sep="", end="")
    sys.exit({"sound": 0, "not sound": 1, "unreadable": 2, "with caveats": 3}[verdict])

if __name__ == "__main__": main()
