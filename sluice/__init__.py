"""The engine of Sluice: masking, disclosure risk, utility, tabular protection, and what a release is."""

from importlib.metadata import version

__version__ = version("sluice")
