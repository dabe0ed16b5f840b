"""What a ledger knows of a deployment, in the form of the deployments registry; what only people know is a TODO.

Names of users and machines are left out: such a record is made to be published.
"""

import datetime
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from importlib import metadata
from typing import Final

import attrs

from accountant.audit import READ_AT, as_approx, as_property, in_symbols, rounded_up, unit
from accountant.audit.breakdowns import ChargeFacts
from accountant.composition import NOTHING, Amount
from accountant.costs import GDP, ZCDP, AddRemoveOne, Budget, Description, PureDP, ReplaceOne
from accountant.entries import Opened, visible

TODO: Final = "TODO: "
"""Before what a person has to say."""

MOST: Final = 40
"""Mechanisms that are listed one by one."""

NEW: Final[Mapping[tuple[str, ...], str]] = {
    ("basic", "data_product_type"): "TODO: the ledger guesses; is it right?",
    ("basic", "publication_date"): "TODO: the day of the first charge; when was it first published?",
    ("deployment_model", "release_type"): "TODO: counted by charges; is it right?",
    ("deployment_model", "data_source_type"): "TODO: the ledger does not know; Static or Dynamic?",
    ("deployment_model", "access_type"): "TODO: the ledger does not know; Interactive or Non-interactive?",
}
"""Where a value of an enumeration is ours and no ledger knows better: what stands beside it, as a comment."""

_WORD: Final = re.compile(r"[a-z0-9]+")


@attrs.frozen
class Deployment:
    """What is known of the charges that are one deployment.

    charges: at least one, oldest first.  used: what was really drawn, and in how many rounds.  entries, head: of the
    whole ledger, which spent `spent` in all.  where: what the charges have in common, by name.
    """

    opened: Opened
    charges: Sequence[ChargeFacts]
    used: Mapping[Description, int]
    entries: int
    head: str
    spent: Budget
    where: Mapping[str, str]

    @property
    def amount(self) -> Amount:
        """What the charges came to, by the ledger's rule."""
        total = NOTHING
        for charge in self.charges:
            total = total.plus(charge.amount)
        return total

    @property
    def cost(self) -> Budget:
        """The same as a promise, rounded up."""
        return self.opened.composition.guarantee(self.amount, self.opened.budget)

    def said(self, name: str) -> list[str]:
        """What the charges say of one thing, each once."""
        return list(dict.fromkeys(text for charge in self.charges if (text := charge.says(name))))


def deployment_record(found: Deployment, delta: float = READ_AT) -> dict[str, object]:
    """A record of tier 3, as `deployment_rules` has it.

    delta: at which a cost in μ is given as (ε, δ), as the registry has no variant for it.
    Raises NoConversion where nothing is promised.
    """
    return {
        "url_slug": _slug(found),
        "status": "Draft",
        "tier": 3,
        "deployment": {
            "basic": _basic(found),
            "dp_variant": {
                "variant_name": _variant(found.cost, delta)[0],
                "data_domain": TODO + "which data sets are possible: the columns of the table, what each may hold, and "
                "which public schema said so.",
                "unprotected_quantities": _unprotected(found),
            },
            "privacy_loss": _privacy_loss(found, delta),
            "deployment_model": _model(found),
            "accounting": {"post_processing": _post_processing(found), "composition": _composition(found)},
            "implementation": {
                "preprocessing_and_hyperparameter_tuning": TODO + "what was done with the data before the first "
                "charge: cleaning, looking at it, choosing parameters on it. The ledger lists everything that was "
                "charged to it, tuning included; what was done without it, it does not know.",
                "mechanisms": _mechanisms(found),
                "justification": TODO + "why this budget, this unit of privacy and these mechanisms.",
            },
            "administrative": {
                "sources": TODO + "links to a paper, to the code, to the published data product.",
                "notes": _notes(found),
                "registry_authors": [TODO + "who wrote this record"],
            },
        },
    }


def _slug(found: Deployment) -> str:
    words = _WORD.findall(" ".join(found.said("dataset")[:1]).lower()) or ["ledger", found.opened.id[:12].lower()]
    return "-".join(words)[:60].strip("-")


def _code(text: str) -> str:
    """A text of the ledger as the registry's Markdown shows it, whatever it holds."""
    return f"`{visible(text).replace('`', chr(39)).replace(chr(92), chr(0x2216))}`"


def _listed(texts: Iterable[str]) -> str:
    return ", ".join(map(_code, texts))


def _basic(found: Deployment) -> dict[str, object]:
    datasets, purposes = found.said("dataset"), found.said("purpose")
    models = any(charge.model for charge in found.charges)
    about = f" The ledger calls the data set {_listed(datasets)}." if datasets else ""
    use = f" The ledger says: {_listed(purposes)}." if purposes else ""
    first = datetime.datetime.fromtimestamp(found.charges[0].time / 1e9, tz=datetime.UTC)
    return {
        "name": TODO + f"the name of the data product.{about}",
        "data_curators": [TODO + "who publishes it"],
        "intended_use": TODO + f"what it is for.{use}",
        "data_product_type": "Machine learning model" if models else "Summary statistics",
        "data_product_region": TODO + "which region the data describe, and whose law applies.",
        "description": TODO + f"what it is, in a sentence or two.{about}",
        "publication_date": first.date().isoformat(),
    }


def _variant(cost: Budget, delta: float) -> tuple[str, dict[str, float]]:
    """The registry's name of the variant, and its parameters, none below what was spent."""
    if isinstance(cost, PureDP):
        return "Pure DP", {"epsilon": _up(cost.epsilon)}
    if isinstance(cost, ZCDP):
        return "Zero-concentrated DP", {"rho": _up(cost.rho)}
    promise = as_approx(cost, delta)
    return "Approximate DP", {"epsilon": _up(promise.epsilon), "delta": _up(promise.delta)}


def _up(value: float) -> float:
    """As it is shown to people."""
    return max(float(rounded_up(value)), value)


def _unprotected(found: Deployment) -> str:
    leaves = unit(found.opened.adjacency).leaves
    return (
        f"{leaves} The public schema (columns, categories, bounds) counts as known. Parameters of the mechanisms, and "
        f"the ledger itself, are not protected.\n{TODO}anything else that was published as it is, without noise."
    )


def _privacy_loss(found: Deployment, delta: float) -> dict[str, object]:
    adjacency, cost = found.opened.adjacency, found.cost
    plain = unit(adjacency)
    named = {AddRemoveOne.name: "One record, present or not", ReplaceOne.name: "One record, replaced"}
    parts = "The protected columns of one record"
    details = [
        f"{plain.neighbours} {plain.hides} {plain.leaves}",
        f"The ledger calls this relation {adjacency}.",
        TODO + "how records relate to people: does a person have one record, or how many at most?",
    ]
    return {
        "privacy_unit": f"{named.get(adjacency.name, parts)}. {TODO}say person, household, visit or other, if a record "
        "is one.",
        "privacy_unit_details": "\n".join(details),
        "privacy_parameters": _variant(cost, delta)[1],
        "privacy_parameters_details": _parameters_details(found, delta),
    }


def _parameters_details(found: Deployment, delta: float) -> str:
    cost, budget = found.cost, found.opened.budget
    some = _where(found)
    lines = [
        f"Everything that was charged for this deployment is together {as_property(cost)}; all numbers are rounded up.",
        f"The ledger enforces a budget of {in_symbols(budget)} for everything charged to it; all of it came to "
        f"{in_symbols(found.spent)} so far.",
    ]
    if some:
        lines.append(f"Of the ledger's charges these are the ones with {some}; what others release comes on top.")
    if isinstance(cost, GDP):
        promise = as_approx(cost, delta)
        lines.append(
            f"The guarantee is Gaussian differential privacy (GDP) with μ = {rounded_up(cost.mu)}, for which the "
            f"registry has no variant. It implies (ε, δ) for every δ; here it is read at δ = {rounded_up(delta)}, "
            f"where ε = {rounded_up(promise.epsilon)}."
        )
    elif found.opened.composition.name == "gdp":
        lines.append("It was accounted for in Gaussian differential privacy (GDP), and is read at the budget's δ.")
    return "\n".join(lines)


def _where(found: Deployment) -> str:
    return " and ".join(f"{name} {_code(text)}" for name, text in found.where.items())


def _model(found: Deployment) -> dict[str, object]:
    one = len(found.charges) == 1 and found.charges[0].record.plan.rounds == 1
    days = {charge.says("day") for charge in found.charges}
    often = f"{len(found.charges)} {'charge' if len(found.charges) == 1 else 'charges'}"
    return {
        "model_name": "Central",
        "model_name_details": "One process holds the records, adds the noise, and writes the charge to the ledger "
        "before it draws anything.",
        "actors": "- The curator holds the records and runs the mechanisms; trusted with both, and with the secrecy of "
        "the noise.\n- The ledger's keeper holds the entries, which say nothing of the records.\n- Readers of the data "
        f"product need not be trusted.\n{TODO}who these are, and why they may be trusted.",
        "release_type": "One release" if one else "Many releases",
        "release_type_details": f"{often} on {len(days)} {'day' if len(days) == 1 else 'days'}, between {min(days)} "
        f"and {max(days)}. {TODO}is more to be released of the same data?",
        "data_source_type": "Static",
        "data_source_type_details": TODO + "does new data come in over time? The ledger does not know.",
        "access_type": "Non-interactive",
        "access_type_details": TODO + "do people ask questions of the data themselves? If so: how is the budget shared "
        "among them, and may they collude? The ledger does not know.",
    }


def _post_processing(found: Deployment) -> str:
    models = found.said("model")
    known = f" The ledger names the models that came of it by SHA-256: {', '.join(models)}." if models else ""
    return (
        f"What is computed from the releases alone costs nothing more.{known}\n{TODO}what is, as rounding or scaling."
    )


def _composition(found: Deployment) -> str:
    rule, charges = found.opened.composition, found.charges
    priced = sum(charge.record.price is not None for charge in charges)
    described = ", ".join(f"{name} {value}" for name, value in rule.describe().items() if name != "name")
    named = _code(rule.name) + (f" ({described})" if described else "")
    lines = [
        f"Adaptive sequential composition by the ledger's rule {named}, a privacy filter: it adds up {rule.unit} "
        "in exact arithmetic, and refuses what the budget does not cover, before anything is drawn.",
        f"{len(charges)} charges, {_rounds(sum(charge.rounds for charge in charges))}; what was charged and given back "
        "unused does not count.",
    ]
    if priced:
        lines.append(f"{priced} of them are plans that were fixed in advance and priced as one thing by a theorem.")
    if waiting := sum(charge.open for charge in charges):
        lines.append(f"{waiting} of them were never released, and count all the same.")
    if rule.claims:
        lines.append(f"It depends on the results that Exchequer's CLAIMS.md calls {_listed(rule.claims)}.")
    return "\n".join(lines)


def _mechanisms(found: Deployment) -> str:
    lines = []
    for mechanism, rounds in Counter(found.used).most_common(MOST):
        parameters = ", ".join(f"{name} {value}" for name, value in mechanism.parameters)
        bound = "" if mechanism.norm == "none" else f", sensitivity {mechanism.sensitivity:.6g} ({mechanism.norm})"
        shown = _code(f"{mechanism.mechanism}({mechanism.query})")
        lines.append(f"- {shown}, {_rounds(rounds)}{bound}, noise {_code(mechanism.noise)}" + _parenthesis(parameters))
    if (more := len(found.used) - MOST) > 0:
        lines.append(f"- and {more} more, which the ledger lists.")
    versions = ", ".join(f"{name} {_version(name)}" for name in ("exchequer", "opendp", "numpy"))
    programs = f" Programs that charged: {_listed(found.said('program'))}." if found.said("program") else ""
    lines += [
        f"- Implemented with Exchequer; installed where this record was written: {versions}.{programs}",
        "- Against floating-point attacks: see LIMITS.md of Exchequer, which says what is discrete and what is not.",
        f"- {TODO}how the records themselves are secured, measures against timing attacks, a link to the code.",
    ]
    return "\n".join(lines)


def _rounds(number: int) -> str:
    return f"{number} {'round' if number == 1 else 'rounds'}"


def _parenthesis(text: str) -> str:
    return f" ({_code(text)})" if text else ""


def _version(name: str) -> str:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return "(not installed)"


def _notes(found: Deployment) -> str:
    return (
        f"Made from the ledger {_code(found.opened.id)} of {found.entries} entries with the head {found.head}, which "
        "was verified first. Whoever has the ledger, or an export of it, can check it with `exchequer ledger verify`."
    )
