"""One fit of LazyBB: everything that it will release, fixed and priced before it starts."""

from functools import cached_property

import attrs

from accountant import Description, Plan, Protected
from boosting import LazyBregman, Spender, boost, boosting_plan, certificates
from learners.base import BinnedRows, BoostingSettings, Calibrator, Progress
from learners.encoding import EncodedSample, Layout, Merged, QuantileCuts
from learners.votes.majority_vote import VoteBinning, VoteModel
from learners.votes.weak_learners import CodeHypothesis, LearnerFactory, RoundLearner
from mechanisms import NoiseSource, Slickness
from mechanisms.core import Rows


@attrs.frozen(slots=False, eq=False)
class LazyPlan:
    """Cuts of columns if asked for, then all rounds, then the calibration if asked for. Everything here is public.

    learner: makes the weak learner.  calibrator, cuts: what is released besides the rounds, None for neither.
    """

    layout: Layout
    n: int
    settings: BoostingSettings
    learner: LearnerFactory
    noise: NoiseSource
    calibrator: Calibrator | None = None
    cuts: QuantileCuts | None = None

    @property
    def booster(self) -> LazyBregman:
        """The measure producer."""
        return LazyBregman(self.settings.density, self.settings.learning_rate)

    @cached_property
    def _runs(self) -> list[tuple[Slickness, int]]:
        return certificates(self.booster, self.settings.rounds, self.n)

    def _learner(self, eta: float, layout: Layout | None = None) -> RoundLearner[CodeHypothesis]:
        return self.learner(self.layout if layout is None else layout, eta, self.noise)

    def rounds(self, eta: float) -> Plan:
        """The costs of all rounds."""
        return boosting_plan(self._learner(eta), self._runs)

    def whole(self, eta: float) -> Plan:
        """The costs of everything, in the order in which it is released. eta: inverse noise scale of the rounds."""
        rounds = self.rounds(eta)
        plan = rounds if self.calibrator is None else self.calibrator.added(rounds)
        return plan if self.cuts is None else Plan((*self.cuts.plan(rounds).steps, *plan.steps))

    def announced(self, eta: float) -> Description:
        """What the ledger's entry says: a round, and by parameters what else there is."""
        said, own, claims = self._learner(eta).announced(self._runs[-1][0]), dict[str, float](), list[str]()
        if self.cuts is not None:
            own["quantiles"] = self.cuts.releases
            claims.append("private-quantile")
        if self.calibrator is not None:
            own["score histogram"] = self.calibrator.noise_scale(self.rounds(eta))
            claims.append("score-histogram")
        return attrs.evolve(
            said, parameters=(*said.parameters, *own.items()), claims=tuple(dict.fromkeys((*said.claims, *claims)))
        )

    def run(
        self, eta: float, spender: Spender, data: Protected[Rows[EncodedSample]], on_round: Progress | None
    ) -> VoteModel:
        """Release it all. eta: as for `whole`, whose costs `spender` has reserved."""
        rounds, layout = self.rounds(eta), self.layout
        if self.cuts is not None:
            merged = Merged(layout.schema, self.cuts.release(spender, rounds, data))
            layout, data = merged.layout, data.map(lambda rows: rows.map(merged).kept())
        learner = self._learner(eta, layout)
        rules = boost(data, self.n, self.booster, learner, self.settings.rounds, spender, on_round)
        model = VoteModel(layout.schema, rules)
        if self.calibrator is None:
            return model
        binned = VoteBinning(model, tuple(self.calibrator.edges))
        scored = data.map(lambda rows: BinnedRows(rows, binned))
        return attrs.evolve(model, calibration=self.calibrator.release(spender, rounds, scored))
