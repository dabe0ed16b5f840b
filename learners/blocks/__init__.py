"""Tables larger than memory, read in blocks: CSV and Parquet files, memory-mapped arrays, Dask."""

from learners.blocks.block_tables import AnyTable, Source, TableBlock, in_blocks
from learners.blocks.csv_table import CsvTable
from learners.blocks.mapped_table import MappedTable
from learners.blocks.parquet_table import ParquetTable
from learners.blocks.predictions import predict_in_blocks

__all__ = [
    "AnyTable",
    "CsvTable",
    "MappedTable",
    "ParquetTable",
    "Source",
    "TableBlock",
    "in_blocks",
    "predict_in_blocks",
]
