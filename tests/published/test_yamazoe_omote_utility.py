"""The utility of Yamazoe and Omote (2021), tables 1 and 2, on Adult: F measures of random forests that learned from
masked records, and their ratio to that of one that learned from the original.

Checked: k-anonymity (k = 20, 50, 70) and noise (sigma = .1, .3, .6). Their anonymisation is told in part only: MDAV on
the one-hot matrix, scaled to 0 and 1, of 10,000 records, and the F measure weighted by the classes' sizes, come
nearest. Does not reproduce: sigma = .4, where the table falls from .819 to .776 and stays there; we find .808 between
.812 and .784. Of table 4, on the diabetes data of 130 US hospitals (whether a patient came back, without numbers of
persons, diagnoses, payer, specialty and weight): the original and sigma = .1; with more noise forests differ by .04 and
more from one draw to another. Not checked: table 3, where we find .60 .58 .56 .44 for .57 .55 .53 .52, and the rows
with d, of which the text does not tell enough.
"""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from sluice.masking.microaggregation.microaggregation import mdav_groups
from sluice.utility.analyses.prediction_loss import Examples, PredictionScores, prediction_scores

NAMES = [
    "age", "workclass", "fnlwgt", "education", "education-num", "marital-status", "occupation", "relationship", "race",
    "sex", "capital-gain", "capital-loss", "hours-per-week", "native-country", "income",
]  # fmt: skip
RECORDS = 10_000
F_OF_K = {20: 0.821, 50: 0.818, 70: 0.805}
F_OF_SIGMA = {0.1: 0.821, 0.3: 0.819, 0.6: 0.774}
F_OF_ORIGINAL = 0.843  # 0.833 / 0.988, table 1


@pytest.fixture(scope="module")
def people(reference_data: Path) -> Examples:
    """10,000 records to learn from and 10,000 others to predict."""
    files = [
        pd.read_csv(reference_data / "adult" / name, names=NAMES, skipinitialspace=True, skiprows=skipped)
        for name, skipped in (("adult.data.gz", 0), ("adult.test.gz", 1))
    ]
    frame = pd.concat(files, ignore_index=True).sample(2 * RECORDS, random_state=0)
    high = frame["income"].str.startswith(">50K").to_numpy().astype(np.int64)
    coded = pd.get_dummies(frame.drop(columns=["fnlwgt", "income"])).astype(float)
    points = ((coded - coded.min()) / (coded.max() - coded.min())).to_numpy()
    return Examples(points[:RECORDS], high[:RECORDS], points[RECORDS:], high[RECORDS:])


def scores(people: Examples, masked: np.ndarray) -> PredictionScores:
    after = Examples(masked, people.learn_class, people.predict, people.predict_class)
    return prediction_scores(people, after, "forest", np.random.default_rng(0))


@pytest.mark.parametrize(
    "k",
    [
        pytest.param(20, marks=pytest.mark.exhaustive),
        pytest.param(50, marks=pytest.mark.longest),
        pytest.param(70, marks=pytest.mark.longest),
    ],
)
def test_table_1_k_anonymity(people: Examples, k: int) -> None:
    groups = mdav_groups(people.learn, k)
    sums = np.zeros((groups.max() + 1, people.learn.shape[1]))
    np.add.at(sums, groups, people.learn)
    found = scores(people, (sums / np.bincount(groups)[:, None])[groups])
    assert found.original == pytest.approx(F_OF_ORIGINAL, abs=0.015)
    assert found.masked == pytest.approx(F_OF_K[k], abs=0.015)


@pytest.mark.exhaustive
@pytest.mark.parametrize("sigma", [0.1, *(pytest.param(sigma, marks=pytest.mark.longest) for sigma in (0.3, 0.6))])
def test_table_2_noise(people: Examples, sigma: float) -> None:
    noise = np.random.default_rng(1).normal(0, sigma, people.learn.shape)
    found = scores(people, people.learn + noise)
    assert found.masked == pytest.approx(F_OF_SIGMA[sigma], abs=0.03)


@pytest.mark.longest
def test_table_4_noise_on_diabetes_data(reference_data: Path) -> None:
    file = reference_data / "diabetes130" / "diabetic_data.csv.gz"
    frame = pd.read_csv(file, low_memory=False).sample(2 * RECORDS, random_state=0)
    back = (frame["readmitted"] != "NO").to_numpy().astype(np.int64)
    left_out = [
        "encounter_id",
        "patient_nbr",
        "diag_1",
        "diag_2",
        "diag_3",
        "payer_code",
        "medical_specialty",
        "weight",
    ]
    codes = ["admission_type_id", "discharge_disposition_id", "admission_source_id"]
    coded = pd.get_dummies(frame.drop(columns=[*left_out, "readmitted"]).astype(dict.fromkeys(codes, "str")))
    coded = coded.astype(float).loc[:, coded.max() > coded.min()]
    points = ((coded - coded.min()) / (coded.max() - coded.min())).to_numpy()
    stays = Examples(points[:RECORDS], back[:RECORDS], points[RECORDS:], back[RECORDS:])
    found = scores(stays, stays.learn + np.random.default_rng(1).normal(0, 0.1, stays.learn.shape))
    assert found.original == pytest.approx(0.621, abs=0.015)
    assert found.masked == pytest.approx(0.560, abs=0.03)
