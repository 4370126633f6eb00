"""IPSO on EIA, 004_1eece6b9d3791e64.txt, "Experiments for IPSO-A,B,C".

Checked: the fifteen counts of records that an intruder links to their own fitted values under IPSO-A (three sets of
quasi-identifiers, five measures), exactly; and that the variants B and C keep the estimates that 004 says they keep.
The definitions that give these counts were found by trying: columns v1, v2, v7, v8, v9 of the ten magnitudes are
masked and the other five stay; errors are left out; each original record is linked to the nearest released one, the
first of equals; "COV0" takes the covariance of the differences and "COV" the sum of both covariances.
Not checked: probabilistic linkage (PRL), and the counts of IPSO-B and IPSO-C, which depend on the random numbers.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Literal

import numpy as np
import numpy.typing as npt
import pandas as pd
import pytest
from scipy.spatial.distance import cdist

from sluice.masking.ipso import Ipso
from sluice.variables import Kind, Variable

FloatArray = npt.NDArray[np.float64]

MASKED = ("RESREVENUE", "RESSALES", "OTHREVENUE", "OTHRSALES", "TOTREVENUE")  # v1, v2, v7, v8, v9
STAYING = ("COMREVENUE", "COMSALES", "INDREVENUE", "INDSALES", "TOTSALES")
KNOWN = [MASKED[:1], (MASKED[0], *MASKED[2:4]), MASKED]
COUNTS = {
    "DBRL1": (14, 16, 65),
    "DBRL2": (9, 15, 121),
    "DBRLM-COV0": (9, 18, 3206),
    "DBRLM-COV": (9, 9, 143),
    "KDBRL": (14, 16, 63),
}


def standardised(values: FloatArray) -> FloatArray:
    return (values - values.mean(axis=0)) / values.std(axis=0)


def mahalanobis(original: FloatArray, released: FloatArray, covariance: FloatArray) -> FloatArray:
    root = np.linalg.cholesky(np.linalg.inv(np.atleast_2d(covariance)))
    return cdist(original @ root, released @ root, "sqeuclidean")


def kernel_distance(original: FloatArray, released: FloatArray) -> FloatArray:
    """Distance in the feature space of the kernel (1 + <x, y>)^2, of standardised records."""
    a, b = standardised(original), standardised(released)
    own = [(1 + (side**2).sum(axis=1)) ** 2 for side in (a, b)]
    return own[0][:, None] - 2 * (1 + a @ b.T) ** 2 + own[1][None]


def scaled_by_both(original: FloatArray, released: FloatArray) -> FloatArray:
    scale = np.sqrt(original.var(axis=0) + released.var(axis=0))
    return cdist(original / scale, released / scale, "sqeuclidean")


DISTANCES: dict[str, Callable[[FloatArray, FloatArray], FloatArray]] = {
    "DBRL1": lambda a, b: cdist(standardised(a), standardised(b), "sqeuclidean"),
    "DBRL2": scaled_by_both,
    "DBRLM-COV0": lambda a, b: mahalanobis(a, b, np.cov((a - b).T)),
    "DBRLM-COV": lambda a, b: mahalanobis(a, b, np.cov(a.T) + np.cov(b.T)),
    "KDBRL": kernel_distance,
}


@pytest.fixture(scope="module")
def eia(reference_data: Path) -> pd.DataFrame:
    return pd.read_csv(reference_data / "casc" / "eia.csv")[[*MASKED, *STAYING]].astype("Int64")


def masked_by(step: Ipso, eia: pd.DataFrame) -> pd.DataFrame:
    variables = {name: Variable(name=name, kind=Kind.INTEGER) for name in eia}
    return step.mask(eia, variables, np.random.default_rng(4))


@pytest.mark.parametrize("measure", COUNTS)
def test_records_linked_under_ipso_a(eia: pd.DataFrame, measure: str) -> None:
    released = masked_by(Ipso(columns=MASKED, given=STAYING, variant="A", errors="none"), eia)
    linked = []
    for known in KNOWN:
        pairs = [frame[list(known)].to_numpy(dtype=float) for frame in (eia, released)]
        linked.append(int((DISTANCES[measure](*pairs).argmin(axis=1) == np.arange(len(eia))).sum()))
    assert tuple(linked) == COUNTS[measure]


@pytest.mark.parametrize("variant", ["B", "C"])
def test_estimates_are_those_of_the_original(eia: pd.DataFrame, variant: Literal["B", "C"]) -> None:
    released = masked_by(Ipso(columns=MASKED, given=STAYING, variant=variant), eia)
    x = np.column_stack([np.ones(len(eia)), eia[list(STAYING)].to_numpy(dtype=float)])
    estimates = []
    for frame in (eia, released):
        y = frame[list(MASKED)].to_numpy(dtype=float)
        coefficients = np.linalg.lstsq(x, y, rcond=None)[0]
        residuals = y - x @ coefficients
        estimates.append((coefficients, residuals.T @ residuals / len(x)))
    (coefficients, covariance), (again, covariance_again) = estimates
    np.testing.assert_allclose(again, coefficients, rtol=1e-9, atol=1e-9 * np.abs(coefficients).max())
    close = np.allclose(covariance_again, covariance, rtol=1e-9)
    assert close == (variant == "C")
