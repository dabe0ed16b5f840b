"""What a record of the deployments registry must look like, in rules of our own.

Written after the schema of github.com/opendp/deployments-registry-data (commit 3e9c812), whose files are not copied
here; a test compares both where that schema is at hand. Of tier 3, which the registry calls guidance, all parts are
demanded.
"""

import datetime
import math
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Final, TypeAlias

Check: TypeAlias = Callable[[object], str]
"""What is wrong with a value; "" for nothing."""

Shape: TypeAlias = "Check | Mapping[str, Shape]"

SLUG: Final = re.compile(r"[a-z0-9]+(?:[-_][a-z0-9]+)*")


def _text(value: object) -> str:
    return "" if isinstance(value, str) and value.strip() else "expected a text that says something"


def _slug(value: object) -> str:
    good = isinstance(value, str) and SLUG.fullmatch(value)
    return "" if good else "expected lower-case letters and digits with - or _ between them"


def _date(value: object) -> str:
    try:
        good = isinstance(value, str) and datetime.date.fromisoformat(value).isoformat() == value
    except ValueError:
        good = False
    return "" if good else "expected a text as 2026-03-01"


def _texts(value: object) -> str:
    good = isinstance(value, list) and value and not any(map(_text, value))
    return "" if good else "expected a list of at least one text"


def _number(value: object) -> str:
    number = isinstance(value, int | float) and not isinstance(value, bool)
    return "" if number and math.isfinite(float(str(value))) else "expected a finite number"


def _one_of(*allowed: object) -> Check:
    def check(value: object) -> str:
        same = any(value == each and type(value) is type(each) for each in allowed)
        return "" if same else f"expected one of {', '.join(map(str, allowed))}"

    return check


VARIANTS: Final = ("Pure DP", "Approximate DP", "Zero-concentrated DP", "Renyi DP", "Custom")
PRODUCTS: Final = (
    "Summary statistics",
    "Machine learning model",
    "Dataset",
    "Synthetic data",
    "Interactive API",
    "SQL queries",
)
SECTORS: Final = ("Technology", "Healthcare", "Education", "Government", "Energy", "Finance")
STATUSES: Final = (
    "Converted",
    "Draft",
    "Pending",
    "Changes Required",
    "Approved",
    "Approved (Update Requested)",
    "Approved (Pending)",
)

SHAPE: Final[Mapping[str, Shape]] = {
    "url_slug": _slug,
    "status": _one_of(*STATUSES),
    "tier": _one_of(3),
    "deployment": {
        "basic": {
            "name": _text,
            "data_curators": _texts,
            "description": _text,
            "intended_use": _text,
            "data_product_type": _one_of(*PRODUCTS),
            "data_product_region": _text,
            "publication_date": _date,
            "data_product_sector": _one_of(*SECTORS),
        },
        "dp_variant": {"variant_name": _one_of(*VARIANTS), "data_domain": _text, "unprotected_quantities": _text},
        "privacy_loss": {
            "privacy_unit": _text,
            "privacy_unit_details": _text,
            "privacy_parameters": {"epsilon": _number, "delta": _number, "rho": _number},
            "privacy_parameters_details": _text,
        },
        "deployment_model": {
            "model_name": _one_of("Local", "Central", "Shuffle", "Federated", "Varies"),
            "model_name_details": _text,
            "actors": _text,
            "release_type": _one_of("One release", "Many releases"),
            "release_type_details": _text,
            "data_source_type": _one_of("Static", "Dynamic"),
            "data_source_type_details": _text,
            "access_type": _one_of("Interactive", "Non-interactive"),
            "access_type_details": _text,
        },
        "accounting": {"post_processing": _text, "composition": _text},
        "implementation": {
            "preprocessing_and_hyperparameter_tuning": _text,
            "mechanisms": _text,
            "justification": _text,
        },
        "administrative": {"sources": _text, "notes": _text, "registry_authors": _texts},
    },
}
"""Every part that a record may have. What is a mapping has no other parts than these."""

OPTIONAL: Final = frozenset({"data_product_sector", "epsilon", "delta", "rho"})
"""Parts that may be missing; which parameters there must be, `PARAMETERS` says."""

PARAMETERS: Final = {
    "Pure DP": ({"epsilon"},),
    "Approximate DP": ({"epsilon", "delta"},),
    "Zero-concentrated DP": ({"rho"},),
}
"""Which parameters the variants that we write are given by."""


def problems(record: object) -> list[str]:
    """A sentence for everything in a record that the rules forbid; none where it keeps them."""
    found = list(_problems(record, SHAPE, ""))
    return found or _wrong_parameters(record)


def _problems(value: object, shape: Shape, place: str) -> Iterator[str]:
    if not isinstance(shape, Mapping):
        if wrong := shape(value):
            yield f"{place}: {wrong}, got {value!r:.60}"
        return
    if not isinstance(value, Mapping):
        yield f"{place or 'the record'}: expected parts with names, got {value!r:.60}"
        return
    for name in value:
        if name not in shape:
            yield f"{place}/{name}: there is no such part"
    for name, inner in shape.items():
        if name in value:
            yield from _problems(value[name], inner, f"{place}/{name}")
        elif name not in OPTIONAL:
            yield f"{place}/{name}: it is missing"


def _wrong_parameters(record: object) -> list[str]:
    """Of a record whose parts are all as they should be."""
    assert isinstance(record, Mapping)
    deployment = record["deployment"]
    variant, given = deployment["dp_variant"]["variant_name"], deployment["privacy_loss"]["privacy_parameters"]
    place = "/deployment/privacy_loss/privacy_parameters"
    if variant not in PARAMETERS:
        return []
    if set(given) not in PARAMETERS[variant]:
        return [f"{place}: {variant} is given by {' and '.join(sorted(PARAMETERS[variant][0]))}"]
    return [f"{place}/{name}: below 0" for name, value in given.items() if value < 0]
