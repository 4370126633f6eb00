"""Copies of a file of records for statistics packages, with labels: made from the Parquet file, compared with it."""

from sluice.publication.copies.spss_file import SpssFile
from sluice.publication.copies.stata_file import StataFile
from sluice.publication.copies.statistics_file import StatisticsFile

COPIES: dict[str, StatisticsFile] = {"stata": StataFile(), "spss": SpssFile()}
"""Those that there are, by the word for them in a definition."""
