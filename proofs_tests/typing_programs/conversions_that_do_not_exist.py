"""No theorem turns ρ into a pure ε, (ε, δ) into a ρ, or one kind into another for comparison."""

from accountant import ZCDP, ApproxDP, BoundedRange, PureDP

ZCDP(0.1).to_pure()  # E: attr-defined
ApproxDP(1.0, 1e-6).to_zcdp()  # E: attr-defined
PureDP(0.1) <= ZCDP(0.1)  # E: operator
PureDP(0.1) <= BoundedRange(0.1)  # E: operator
BoundedRange(0.1).split(3)  # E: attr-defined
ZCDP(0.1).to_approx()  # E: call-arg
PureDP(0.1) + PureDP(0.1)  # E: operator
float(PureDP(0.1))  # E: arg-type

PureDP(0.1) <= PureDP(0.2)
BoundedRange(0.1).to_zcdp().to_approx(delta=1e-6)
