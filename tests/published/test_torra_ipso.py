"""IPSO on EIA, Torra (2013), "Experiments for IPSO-A,B,C".

Checked: the fifteen counts of records that an intruder links to their own fitted values under IPSO-A (three sets of
quasi-identifiers, five measures), exactly; and that the variants B and C keep the estimates that Torra (2013) says they
keep. The definitions that give these counts were found by trying: columns v1, v2, v7, v8, v9 of the ten magnitudes are
masked and the other five stay; errors are left out; each original record is linked to the nearest released one, the
first of equals; "COV0" takes the covariance of the differences and "COV" the sum of both covariances.
Not checked: probabilistic linkage (PRL), and the counts of IPSO-B and IPSO-C, which depend on the random numbers.
"""

from pathlib import Path
from typing import Literal

import numpy as np
import pandas as pd
import pytest

from sluice.ground.variables import Kind, Variable
from sluice.masking.synthesis.ipso import Ipso
from sluice.risk.linkage.record_linkage import Distance, record_linkage

MASKED = ("RESREVENUE", "RESSALES", "OTHREVENUE", "OTHRSALES", "TOTREVENUE")  # v1, v2, v7, v8, v9
STAYING = ("COMREVENUE", "COMSALES", "INDREVENUE", "INDSALES", "TOTSALES")
KNOWN = [MASKED[:1], (MASKED[0], *MASKED[2:4]), MASKED]
COUNTS: dict[Distance, tuple[int, int, int]] = {
    "each_standardised": (14, 16, 65),  # DBRL1
    "jointly_standardised": (9, 15, 121),  # DBRL2
    "mahalanobis_of_pairs": (9, 18, 3206),  # DBRLM-COV0
    "mahalanobis": (9, 9, 143),  # DBRLM-COV
    "kernel": (14, 16, 63),  # KDBRL
}


@pytest.fixture(scope="module")
def eia(reference_data: Path) -> pd.DataFrame:
    return pd.read_csv(reference_data / "casc" / "eia.csv")[[*MASKED, *STAYING]].astype("Int64")


def masked_by(step: Ipso, eia: pd.DataFrame) -> pd.DataFrame:
    variables = {name: Variable(name=name, kind=Kind.INTEGER) for name in eia}
    return step.mask(eia, variables, np.random.default_rng(4))


@pytest.mark.parametrize("distance", COUNTS)
def test_records_linked_under_ipso_a(eia: pd.DataFrame, distance: Distance) -> None:
    released = masked_by(Ipso(columns=MASKED, given=STAYING, variant="A", errors="none"), eia)
    linked = []
    for known in KNOWN:
        original, masked = (frame[list(known)].to_numpy(dtype=float) for frame in (eia, released))
        linked.append(int(record_linkage(original, masked, distance).correct(ties="first").sum()))
    assert tuple(linked) == COUNTS[distance]


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
