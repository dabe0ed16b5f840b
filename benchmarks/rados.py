"""Rados: the tables of 000 beside ours, the honest cost beside the printed one, noise, hardness, and speed."""

from benchmarks import rado_costs, rado_features, rado_hardness, rado_noise, rado_speed, rado_table
from benchmarks.report import Grid, Report, Reports


def run(folder: str | None, quick: bool) -> Reports:
    """All tables; speed first, for the memory that it reads off is that of the whole process."""
    parts: list[Report | Grid] = [
        *rado_speed.tables(folder, quick),
        *rado_table.tables(folder, quick),
        *rado_costs.tables(),
        *rado_features.tables(folder, quick),
        *rado_noise.tables(folder, quick),
        *rado_hardness.tables(folder, quick),
    ]
    return Reports("Rademacher observations", tuple(parts))
