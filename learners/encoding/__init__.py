"""Records encoded as integer codes or scaled numbers, and exact sums over them in any order."""

from typing import TYPE_CHECKING

from accountant.renamed import old_names
from learners.encoding.encoded_rows import CodeReader, EncodedRows, RowCheck, check_rows, encoded_rows
from learners.encoding.encoder import (
    EncodedSample,
    HeldWeights,
    LabelSums,
    Layout,
    Path,
    check_encoded,
    joined_samples,
    literal_signs,
    with_feature,
)
from learners.encoding.numeric_features import Coding, Scaling
from learners.encoding.partitions import FINE, FINEST, denoised, grid, middles, random_bins, refined
from learners.encoding.quantile_cuts import QUANTILE_SHARE, ColumnCounts, Merged, QuantileCuts, bin_count, finely_cut
from learners.encoding.row_chunks import GROUP, SMALL, each_part, pieces
from learners.encoding.row_products import folded, row_products
from learners.encoding.weighted_sums import MOST_WEIGHED_RECORDS, CellIndex, as_shares, cell_sums, weight_units

if not TYPE_CHECKING:
    __getattr__ = old_names(__name__)

__all__ = [
    "FINE",
    "FINEST",
    "GROUP",
    "MOST_WEIGHED_RECORDS",
    "QUANTILE_SHARE",
    "SMALL",
    "CellIndex",
    "CodeReader",
    "Coding",
    "ColumnCounts",
    "EncodedRows",
    "EncodedSample",
    "HeldWeights",
    "LabelSums",
    "Layout",
    "Merged",
    "Path",
    "QuantileCuts",
    "RowCheck",
    "Scaling",
    "as_shares",
    "bin_count",
    "cell_sums",
    "check_encoded",
    "check_rows",
    "denoised",
    "each_part",
    "encoded_rows",
    "finely_cut",
    "folded",
    "grid",
    "joined_samples",
    "literal_signs",
    "middles",
    "pieces",
    "random_bins",
    "refined",
    "row_products",
    "weight_units",
    "with_feature",
]
