"""The guarantee log: what CHANGELOG.md says under "Guarantee", version by version."""

import re
from typing import Final

INTRODUCTION: Final = """# Guarantee log

Every change that moved an ε, a δ or a promise, by version; taken from the [changelog](changelog.md). Whoever keeps
models or ledgers of an earlier version finds here whether what they were charged was enough.
"""

_VERSION: Final = re.compile(r"^## (.+)$", re.MULTILINE)
_PART: Final = re.compile(r"^### (.+)$", re.MULTILINE)


def page(changelog: str) -> str:
    """Markdown: a chapter for each version that moved a guarantee."""
    parts = [INTRODUCTION]
    _, *versions = _VERSION.split(changelog)
    for version, text in zip(versions[::2], versions[1::2], strict=True):
        _, *categories = _PART.split(text)
        for name, body in zip(categories[::2], categories[1::2], strict=True):
            if name.strip().lower() == "guarantee":
                parts.append(f"## {version}\n\n{body.strip()}\n")
    return "\n".join(parts)
