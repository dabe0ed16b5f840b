"""Hypothesis strategies shared by the tests."""

from hypothesis import strategies as st

from accountant import ZCDP, ApproxDP, BoundedRange, PureDP

epsilons = st.floats(1e-6, 20.0)
small_epsilons = st.floats(1e-4, 2.0)
deltas = st.floats(1e-12, 0.5)

pure_costs = st.builds(PureDP, epsilons)
bounded_range_costs = st.builds(BoundedRange, epsilons)
approx_costs = st.builds(ApproxDP, epsilons, st.floats(0.0, 0.1))
zcdp_costs = st.builds(ZCDP, st.floats(1e-9, 10.0))
any_cost = st.one_of(pure_costs, bounded_range_costs, approx_costs, zcdp_costs)
