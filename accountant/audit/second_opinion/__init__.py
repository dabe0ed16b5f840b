"""A ledger's total, computed again with `dp-accounting` and from each mechanism's own parameters."""

from accountant.audit.second_opinion import peer_totals
from accountant.audit.second_opinion.opinion import READ_OUT, TOLERANCE, SecondOpinion, Total, second_opinion
from accountant.audit.second_opinion.peer import PeerMissing
from accountant.audit.second_opinion.recomputed import least_rounds

__all__ = [
    "READ_OUT",
    "TOLERANCE",
    "PeerMissing",
    "SecondOpinion",
    "Total",
    "least_rounds",
    "peer_totals",
    "second_opinion",
]
