"""What a file holds, as plain data: JSON that says nothing twice, and checkpoints of torch, of which no code is run.

A number that no float tells from 0 or from infinity is refused: a spend of 1e-400 would be charged as nothing.
"""

import importlib
import json
import re
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

LARGEST_FILE: Final = 2**28
"""Bytes: a checkpoint holds a model as well."""

SAFE_TORCH: Final = (2, 6)
"""Before it, `torch.load` of weights alone could be made to run code (CVE-2025-32434)."""

STATE: Final = "privacy_accountant_state_dict"
"""Where a checkpoint of Opacus' privacy engine keeps the state of its accountant."""

AS_JSON: Final = (
    "write the accountant's state as JSON where Opacus is: json.dump(privacy_engine.accountant.state_dict(), file)"
)


def content_of(path: Path) -> Any:  # as JSON has it: numbers, texts, lists and mappings
    """What a file of JSON, or a checkpoint (`.pt`, `.pth`), holds. Raises ValueError, and ImportError without torch."""
    return _checkpoint(path) if path.suffix.lower() in (".pt", ".pth") else _json(path)


def _too_large(path: Path) -> ValueError:
    return ValueError(f"{path.name} is larger than {LARGEST_FILE} bytes: export the accountant's state alone")


# --- JSON ---------------------------------------------------------------------------------------------------------


def _json(path: Path) -> Any:
    with path.open("rb") as file:
        raw = file.read(LARGEST_FILE + 1)  # also of what tells no size, or grows
    if len(raw) > LARGEST_FILE:
        raise _too_large(path)
    try:
        return json.loads(
            raw, parse_constant=_no_number, parse_float=_float, parse_int=_whole, object_pairs_hook=_said_once
        )
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{path.name} is no JSON: {error}") from None


def _no_number(name: str) -> float:
    raise ValueError(f"{name} is no number of JSON")


def _float(text: str) -> float:
    number = float(text)
    digits = text.lower().partition("e")[0]
    if abs(number) > sys.float_info.max or (not number and digits.strip("-0.")):
        raise ValueError(f"{text[:40]} is beyond what floats hold: it would be taken for {number!r}")
    return number


def _whole(text: str) -> int:
    number = int(text)
    if abs(number) > sys.float_info.max:
        raise ValueError(f"{text[:40]}… is beyond what floats hold")
    return number


def _said_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        twice = next(name for place, (name, _) in enumerate(pairs) if name in dict(pairs[:place]))
        raise ValueError(f"{twice!r:.99} is said twice of one thing, and only one of both can be meant")
    return found


# --- checkpoints of torch -----------------------------------------------------------------------------------------


def _checkpoint(path: Path) -> Any:
    if path.stat().st_size > LARGEST_FILE:
        raise _too_large(path)
    try:
        torch = importlib.import_module("torch")
    except ImportError:
        raise ImportError(
            f"{path.name} is a checkpoint of torch, which is not installed: install it, or {AS_JSON}"
        ) from None
    refuse_unsafe(str(torch.__version__))
    try:
        content = torch.load(path, map_location="cpu", weights_only=True)
    except Exception:  # of another library, whose advice is to run what the file says
        raise ValueError(
            f"{path.name} cannot be read as weights and plain values alone, and nothing else in it is run: {AS_JSON}"
        ) from None
    state = state_of(content)
    if state is None:
        raise ValueError(f"{path.name} holds no state of an accountant of Opacus, under {STATE!r}")
    return {"history": _plain_steps(state["history"]), "mechanism": str(state.get("mechanism", ""))}


def refuse_unsafe(version: str) -> None:
    """Raise ValueError for a version of torch whose files may run code, or that cannot be read."""
    found = re.match(r"(\d+)\.(\d+)", version)
    if found is None or (int(found[1]), int(found[2])) < SAFE_TORCH:
        raise ValueError(
            f"torch {version} may run code that a checkpoint brings along: install {'.'.join(map(str, SAFE_TORCH))} or "
            f"newer, or {AS_JSON}"
        )


def state_of(content: Any) -> Mapping[str, Any] | None:  # as it was read
    """The state of an accountant of Opacus; None where this is none."""
    if isinstance(content, Mapping) and isinstance(content.get(STATE), Mapping):
        content = content[STATE]
    if isinstance(content, Mapping) and "history" in content:
        return content
    is_history = isinstance(content, Sequence) and not isinstance(content, str) and len(content) > 0
    if is_history and all(isinstance(step, Sequence) and not isinstance(step, str) for step in content):
        return {"history": content}
    return None


def _plain_steps(history: object) -> list[list[float]]:
    """As JSON has them; whether they are any is for the plan to say."""
    if not isinstance(history, list | tuple):
        raise ValueError(f"history: expected a list of steps, got {type(history).__name__}")
    for place, step in enumerate(history):
        if not isinstance(step, list | tuple) or not all(type(part) in (int, float) for part in step):
            raise ValueError(f"history[{place}]: expected plain numbers, got {step!r:.99}; {AS_JSON}")
    return [list(step) for step in history]
