"""Tables larger than memory, read in blocks: CSV and Parquet files, memory-mapped arrays, Dask; and what reads them."""

from learners.blocks.block_tables import AnyTable, Source, TableBlock, in_blocks, plain_labels
from learners.blocks.csv_table import CsvTable
from learners.blocks.mapped_table import MappedTable
from learners.blocks.parquet_table import ParquetTable
from learners.blocks.predictions import predict_in_blocks
from learners.blocks.streamed_rows import StreamedRows
from learners.blocks.unchanged_files import RECORDS_PER_BLOCK, Place, label_column

__all__ = [
    "RECORDS_PER_BLOCK",
    "AnyTable",
    "CsvTable",
    "MappedTable",
    "ParquetTable",
    "Place",
    "Source",
    "StreamedRows",
    "TableBlock",
    "in_blocks",
    "label_column",
    "plain_labels",
    "predict_in_blocks",
]
