"""The versions of what computes the figures of a report."""

from importlib.metadata import version

COMPUTED_BY = ("sluice", "numpy", "scipy", "pandas", "pyarrow", "numba", "scikit-learn", "duckdb", "highspy")


def versions() -> dict[str, str]:
    """Name -> version of Sluice and the libraries."""
    return {name: version("sluice-sdc" if name == "sluice" else name) for name in COMPUTED_BY}
