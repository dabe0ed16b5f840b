"""Classes, functions and constants that have other names now, by the module that they were in.

A name that only moved together with its module is not here: see `accountant.renamed`. To be removed with the version
after 0.2.
"""

from collections.abc import Iterator
from typing import Final

_BY_MODULE: Final[dict[str, str]] = {
    "accountant.adaptive_range": "FEW=accountant.composition.adaptive_range.FEW_ROUNDS",
    "accountant.audit": "Audit=accountant.audit.verification.Verifier",
    "accountant.bookkeeper": "Bookkeeper=accountant.ledger.writer.LedgerWriter",
    "accountant.composition": "told_apart=accountant.composition.rules.distinct_texts",
    "accountant.ledger": "EARLIER=accountant.ledger.opening.",
    "accountant.lines": "line_of=accountant.entries.codec.encode",
    "accountant.loss_distribution": "Composition=accountant.composition.loss_distribution.ComposedLosses",
    "accountant.plain_words": "Unit=accountant.audit.plain_language.ProtectedUnit",
    "accountant.records": "read=accountant.entries.codec.decode",
    "accountant.replay": "Replay=accountant.audit.entry_checks.EntryChecker",
    "accountant.report.burn_down": "Point=accountant.audit.report.burn_down.BurnDownPoint",
    "accountant.report.chapters": "books=accountant.audit.report.chapters.facts_of_ledger",
    "accountant.report.evidence": "Source=accountant.audit.report.evidence.NoiseUse",
    "accountant.report.page": (
        "Row=accountant.audit.report.page.TableRow Section=accountant.audit.report.page.ReportSection"
    ),
    "accountant.report.questions": "Known=accountant.audit.report.questions.LedgerFacts",
    "accountant.report.released": "Drawn=accountant.audit.report.released.ReleaseGroups",
    "accountant.second_opinion.recomputed": "KERNELS=accountant.audit.second_opinion.recomputed.RANDOMIZERS",
    "accountant.spending": "Point=accountant.audit.spending.SpendingPoint",
    "accountant.statement": "Details=accountant.audit.statement_details.StatementDetails",
    "accountant.trail": "canonical=accountant.canonical_json.",
    "boosting": "margin_data=boosting.theory.margin_samples rado_loss=boosting.rados.losses",
    "boosting.rado": "Prudential=boosting.rados.rado_boost.CappedOracle",
    "boosting.reweighted": "Step=boosting.reweighted_sample.BoostingStep",
    "exchequer.auditing": (
        "write_books=exchequer.commands.auditing.audit_ledger.write_entries "
        "write_report=exchequer.commands.auditing.report_file.write_report"
    ),
    "exchequer.books": (
        "discreet=exchequer.commands.ledgers.open_ledger.without_passwords "
        "told=exchequer.commands.ledgers.open_ledger.until_failure "
        "Books=exchequer.commands.ledgers.open_ledger.StoredEntries"
    ),
    "exchequer.datasets": "Dataset=exchequer.datasets.DataSplit",
    "exchequer.demo": "Settings=exchequer.commands.demo.DemoSettings FEW=exchequer.commands.demo.FEW_RECORDS",
    "exchequer.ledger_commands": (
        "ACCOUNT=exchequer.commands.ledgers.ledger_options. "
        "ENVIRONMENT=exchequer.commands.ledgers.ledger_options. "
        "FORCE=exchequer.commands.ledgers.ledger_options. "
        "NO_HEADER=exchequer.commands.ledgers.ledger_options. "
        "SECOND_OPINION=exchequer.commands.ledgers.ledger_options. "
        "SEED=exchequer.commands.ledgers.ledger_options. "
        "export=exchequer.commands.auditing.auditing_commands. "
        "payer_options=exchequer.commands.ledgers.ledger_options. "
        "refuse_simulated=exchequer.commands.ledgers.ledger_options. "
        "refuse_unpaid=exchequer.commands.ledgers.ledger_options. "
        "report=exchequer.commands.auditing.auditing_commands. "
        "show=exchequer.commands.auditing.auditing_commands. "
        "verify=exchequer.commands.auditing.auditing_commands. "
        "verify_model=exchequer.commands.auditing.auditing_commands."
    ),
    "exchequer.overview": "Drawn=exchequer.commands.auditing.show_ledger.AccountSpending",
    "exchequer.payer": "Payer=exchequer.commands.ledgers.paying_ledger.PayingLedger",
    "exchequer.price": "Line=exchequer.prices.price.RuleAnswer",
    "exchequer.rados": "Order=exchequer.commands.rados.RadoRequest",
    "exchequer.train": (
        "Order=exchequer.commands.train.TrainingRequest "
        "Classifier=exchequer.commands.predict. guarantee=exchequer.commands.predict. "
        "known_classes=exchequer.commands.predict. predict=exchequer.commands.predict. "
        "predictor=exchequer.commands.predict. label_of=exchequer.commands.training_input. "
        "labelled_table=exchequer.commands.training_input. read=exchequer.commands.training_input. "
        "take_label=exchequer.commands.training_input."
    ),
    "exchequer.trainable": "Learner=exchequer.trainable.TrainableLearner",
    "exchequer.verify_model": (
        "ALONE=accountant.audit.model_claims. "
        "DIGITS=accountant.audit.model_claims. "
        "LEARNT=accountant.audit.model_claims. "
        "NOTHING_PROMISED=accountant.audit.model_claims. "
        "Claim=accountant.audit.model_claims.ModelClaim "
        "read_claim=accountant.audit.model_claims.read_model_claim "
        "Comparison=accountant.audit.saved_models.ModelComparison "
        "compare=accountant.audit.saved_models.compare_model"
    ),
    "learners.additive_boost": (
        "Design=learners.additive.additive_boost.AdditiveDesign "
        "EVEN_SWEEPS=learners.additive.additive_boost.EVEN_TURNS "
        "SWEEPS=learners.additive.additive_boost.ROUNDS_PER_COLUMN "
        "Kernel=learners.additive.additive_boost.GradientRelease "
        "Binned=mechanisms.gradients.scored_records.ScoredRows"
    ),
    "learners.bagging": "Ballot=learners.trees.bagging.VoteCounts School=learners.trees.bagging.TeachingPlan",
    "learners.centring": "WeightedPoints=learners.halfspaces.centred_means.ReweightedPoints",
    "learners.coded": "Coded=learners.tables.dictionary_columns.DictionaryColumn",
    "learners.complete_trees": "Split=learners.trees.complete_trees.CodeSplit",
    "learners.defaults": "Settings=learners.base.defaults.BoostingSettings",
    "learners.effects": (
        "BLAS_ALONE=learners.additive.posteriors.ordered_effects. "
        "OrderedEffect=learners.additive.posteriors.ordered_effects. "
        "random_walk=learners.additive.posteriors.walks.Walk"
    ),
    "learners.file_rows": "taken_apart=learners.blocks.files.arrays_of",
    "learners.forest": "Grove=learners.trees.forest.ForestPlan Values=learners.trees.forest.LeafValues",
    "learners.gaussian_parts": (
        "Part=learners.base.gaussian_budget.GaussianQuery bought=learners.base.gaussian_budget.affordable_mu"
    ),
    "learners.interpolation": "BLOCK=learners.random_features.interpolation.ROWS_PER_STEP",
    "learners.logistic": "Design=learners.linear.logistic.LogisticDesign",
    "learners.noisy_centring": "Law=learners.halfspaces.noisy_centred_mean.NoiseDistribution",
    "learners.parameters": "tree_depth=learners.trees.complete_trees.",
    "learners.classes": "PublicClassifier=learners.public_classifier.",
    "learners.partitions": (
        "bins=learners.encoding.partitions.random_bins PUBLIC_SHARE=learners.additive.grids.PUBLIC"
    ),
    "learners.paying": "Kept=learners.base.private_estimator.FitResult",
    "learners.point_sample": "UNIT=learners.halfspaces.point_sample.POINT_UNIT Counts=accountant.arrays.ExactArray",
    "learners.points": (
        "Line=learners.inspection.point_tables.PointLine Unit=learners.inspection.point_tables.PointUnit"
    ),
    "learners.private_groups": (
        "Payer=learners.fairness.private_groups.ReleaseBudget Released=learners.fairness.private_groups.NoisyValues"
    ),
    "learners.quantile_cuts": "bins=learners.encoding.quantile_cuts.bin_count",
    "learners.rado_designs": "Design=learners.rados.rado_designs.RadoDesign",
    "learners.rado_features": "Source=learners.rados.protected_columns.SensitiveColumns",
    "learners.rados": "Coded=learners.rados.rado_releases.RadoCode",
    "learners.random_feature_maps": (
        "FORMS=learners.random_features.feature_maps.FEATURE_MAPS "
        "LAWS=learners.random_features.feature_maps.DISTRIBUTIONS "
        "form_name=learners.random_features.feature_maps.feature_map_name "
        "law_name=learners.random_features.feature_maps.distribution_name"
    ),
    "learners.random_feature_model": "Fit=learners.random_features.feature_model.FittedCoefficients",
    "learners.random_feature_theory": "Published=learners.random_features.error_bounds.PublishedNoise",
    "learners.scorecards": "Section=learners.inspection.scorecards.CardSection",
    "learners.separate_fits": "Fit=learners.base.separate_ledgers.ChargedFit",
    "learners.single_values": "CodeArray=accountant.arrays. IntArray=accountant.arrays.",
    "learners.source_files": (
        "BLOCK=learners.blocks.unchanged_files.RECORDS_PER_BLOCK "
        "own_or_given=learners.blocks.unchanged_files.chosen_labels"
    ),
    "learners.sources": "Part=learners.blocks.block_tables.TableBlock",
    "learners.tables": "IN_BLOCKS=learners.tables.readers.BLOCK_READERS",
    "learners.trees": "Split=learners.votes.binary_trees.LeafSplit",
    "learners.tuning": "Learner=learners.base.tuning.TunableClassifier",
    "learners.weighted_sums": "MOST_RECORDS=learners.encoding.weighted_sums.MOST_WEIGHED_RECORDS",
    "learners.views": ("GRID=learners.additive.grids. Partitioned=mechanisms.queries.histograms.Partitions"),
    "mechanisms": "laws=mechanisms.randomness.choice_probabilities",
    "mechanisms.feature_fits": "UNIT=mechanisms.gradients.feature_fits.MACHINE_EPSILON",
    "mechanisms.feature_queries": "FEW=mechanisms.gradients.feature_queries.SHORT_ROW",
    "mechanisms.gradient_queries": (
        "MOST_RECORDS=mechanisms.gradients.tree_gradients.MOST_TREE_RECORDS "
        "UNIT=mechanisms.gradients.tree_gradients.GRADIENT_UNIT"
    ),
    "mechanisms.gradients": (
        "MOST_RECORDS=mechanisms.gradients.gradient_sums.MOST_GRADIENT_RECORDS IntArray=accountant.arrays."
    ),
    "mechanisms.group_queries": "MOST_RECORDS=mechanisms.queries.group_queries.MOST_GROUP_RECORDS",
    "mechanisms.histograms": "IntArray=accountant.arrays.",
    "mechanisms.logistic_loss": (
        "UNIT=mechanisms.gradients.linear_losses.ROUND_OFF BLOCK=mechanisms.gradients.linear_losses.RECORDS_PER_SUM"
    ),
    "mechanisms.one_hot": "told=mechanisms.rados.one_hot.one_hot_text",
    "mechanisms.quantiles": "CountArray=accountant.arrays.ExactArray",
    "mechanisms.queries": "BLOCK=mechanisms.queries.weighted_queries.RECORDS_PER_SUM",
}
"""`old=new`, where a new name that ends in a dot is the old one, there."""

_EVERYWHERE: Final = {
    "ConstantKernel": "ConstantRandomizer",
    "ExponentialKernel": "ExponentialChoice",
    "FiniteKernel": "FiniteRandomizer",
    "GammaNormKernel": "GammaNormNoise",
    "GaussianKernel": "GaussianNoise",
    "Kernel": "Randomizer",
    "LaplaceKernel": "LaplaceNoise",
    "LeafLabelKernel": "LeafLabelChoice",
    "LevelKernel": "LevelChoice",
    "NoisyMaxKernel": "NoisyMaxChoice",
    "PermuteAndFlipKernel": "PermuteAndFlipChoice",
    "check_kernel": "check_randomizer",
    "Allowance": "FitBudget",
    "Form": "FeatureMap",
    "Law": "FrequencyDistribution",
    "PayingEstimator": "PrivateEstimator",
    "output_law": "output_distribution",
}
"""Old name and new one of what keeps its module: good for every package that offers the new one."""


def _pairs() -> Iterator[tuple[str, str]]:
    for module, names in _BY_MODULE.items():
        for pair in names.split():
            old, _, new = pair.partition("=")
            yield f"{module}.{old}", new + old if new.endswith(".") else new


RENAMED: Final = dict(_pairs())
"""Old dotted names and new ones."""


def new_name(module: str, name: str, offered: object) -> str | None:
    """The dotted name of what that module called so, None for what it never had.

    module: as it was asked for.  offered: the module itself, or where it is now.
    """
    if (found := RENAMED.get(f"{module}.{name}")) is not None:
        return found
    new = _EVERYWHERE.get(name)
    return f"{getattr(offered, '__name__', module)}.{new}" if new is not None and hasattr(offered, new) else None
