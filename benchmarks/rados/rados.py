"""Rados: the tables of 000 beside ours, the honest cost beside the printed one, noise, hardness, and speed."""

from benchmarks.rados import rado_costs, rado_features, rado_hardness, rado_noise, rado_speed, rado_table
from benchmarks.runner import Part, Setting


def parts(setting: Setting) -> list[Part]:
    """All of them, speed first."""
    modules = (rado_speed, rado_table, rado_costs, rado_features, rado_noise, rado_hardness)
    return [part for module in modules for part in module.parts(setting)]
