"""A part of a ledger as a file of its own, for an auditor of one month or one year, and what can be checked of it."""

from accountant.audit.parts.part_file import PartHeader, is_part, open_part, write_part
from accountant.audit.parts.part_verification import verify_part

__all__ = ["PartHeader", "is_part", "open_part", "verify_part", "write_part"]
