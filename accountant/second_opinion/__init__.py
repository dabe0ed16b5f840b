"""The same books added up by somebody else: `dp-accounting`, and each cost from its mechanism's own parameters."""

from accountant.second_opinion.opinion import READ_OUT, TOLERANCE, SecondOpinion, Total, second_opinion

__all__ = ["READ_OUT", "TOLERANCE", "SecondOpinion", "Total", "second_opinion"]
