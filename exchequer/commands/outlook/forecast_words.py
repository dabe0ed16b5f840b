"""A forecast in short, as `exchequer ledger show` says it, and the words that `forecast` shares with it."""

from accountant.audit.outlook import Forecast, Outlook
from accountant.audit.report import shown
from exchequer.commands.outlook.readings import WHOLE
from exchequer.console.times import DAY, day_text, span_text


def summary(found: Forecast) -> dict[str, object]:
    """In short, for JSON: which account ends first, and after how many whole days; why there is no number."""
    first = found.first
    return {
        "pace_days": found.pace / DAY,
        "first": None if first is None else first.path,
        "lasts_days": None if first is None else whole_days(first.lasts),
        "why": None if first is not None else why_not(found),
    }


def headline(found: Forecast, pace: str) -> str:
    """The forecast in a line."""
    first, late = found.first, f"at the pace of the last {pace}"
    if first is None or first.lasts is None:
        return f"no forecast {late}: {why_not(found)}"
    whose = (
        "what remains" if len(found.accounts) == 1 else f"what remains of {account_name(first.path)}, the first to end,"
    )
    unknown = sum(account.lasts is None for account in found.accounts)
    more = f"; {unknown} more account{'' if unknown == 1 else 's'} without a number" if unknown else ""
    return f"{late}, {whose} lasts {lasts_text(first, found.now)}{more}"


def why_not(found: Forecast) -> str:
    """Why there is no number."""
    reasons = [account.why for account in found.accounts] or ["this sub-budget is closed"]
    return reasons[0] if len(set(reasons)) == 1 else "no account has a long enough past"


def lasts_text(account: Outlook, now: int) -> str:
    """How long, and until when; why that is not known."""
    if account.lasts is None:
        return account.why
    day = day_text(now + account.lasts)
    return span_text(account.lasts) + (f", until {day}" if day and account.lasts < 36_525 * DAY else "")


def account_name(path: str) -> str:
    """A path for people."""
    return shown(path) if path else WHOLE


def whole_days(length: int | None) -> int | None:
    """Whole days, rounded down."""
    return None if length is None else length // DAY
