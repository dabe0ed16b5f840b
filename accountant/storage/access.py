"""How a ledger's database may be named, and what may be done with it."""

from typing import Final, Literal

import sqlalchemy as sa
from sqlalchemy.exc import SQLAlchemyError

Access = Literal["create", "write", "read", "read-only"]
"""A reader of a file, "read", puts back what a writer that crashed left half-written, where it may; "read-only" leaves
every byte as it is."""

READS: Final = ("read", "read-only")


def checked_url(url: str) -> sa.URL:
    """The URL of a ledger, parsed. Raises ValueError for any other."""
    try:
        parsed = sa.make_url(url)
    except (SQLAlchemyError, ValueError, AttributeError):  # it may hold a password, so it is not repeated
        raise ValueError("this is no URL of a ledger, such as 'sqlite:///study.db' for the file study.db") from None
    match parsed.get_backend_name():
        case "sqlite":
            if not parsed.database or parsed.database == ":memory:" or parsed.query:
                raise ValueError(
                    "a durable ledger needs a plain file: 'sqlite:///study.db'; without one use Ledger(...)"
                )
            return parsed
        case "postgresql":
            # Then the password ended before it should, and its rest would be looked up, and named, as a host.
            if "@" in f"{parsed.host}{parsed.database}":
                raise ValueError("an @ in the password of a URL is spelt %40")
            return parsed.set(drivername="postgresql+psycopg")
        case other:
            raise ValueError(f"a ledger is kept in sqlite or postgresql, not in {other!r}")
