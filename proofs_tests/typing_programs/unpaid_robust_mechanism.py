"""A robust mechanism has no plain cost: it is not released without its certificate."""

from accountant import Ledger, Protected
from learners import EncodedSample
from boosting import Reweighted
from mechanisms import Slickness, WeightedExponential


def forgot_the_certificate(
    ledger: Ledger,
    mechanism: WeightedExponential[Reweighted[EncodedSample]],
    data: Protected[Reweighted[EncodedSample]],
) -> int:
    return ledger.release(mechanism, data)  # E: arg-type


def with_it(
    ledger: Ledger,
    mechanism: WeightedExponential[Reweighted[EncodedSample]],
    data: Protected[Reweighted[EncodedSample]],
    slickness: Slickness,
) -> int:
    return ledger.release(mechanism.under(slickness), data)
