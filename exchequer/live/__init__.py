"""A ledger's report as a page that stays up to date, on a small web server: `exchequer ledger serve`.

It needs Flask and waitress, `pip install 'exchequer[serve]'`, and so is imported when the command runs.
"""

from exchequer.live.access import Access, new_token, read_token
from exchequer.live.app import application
from exchequer.live.follower import Follower, Seen
from exchequer.live.pages import Desk
from exchequer.live.server import Listening
from exchequer.live.source import Source

__all__ = [
    "Access",
    "Desk",
    "Follower",
    "Listening",
    "Seen",
    "Source",
    "application",
    "new_token",
    "read_token",
]
