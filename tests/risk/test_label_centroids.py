"""Label centroids: to the bit the means of the groups, however they are worked out."""

import numpy as np
import pandas as pd
import pytest

from sluice.risk.coded_points import ByCategory, Coded, CodedPoints, label_centroids, labels_in_order

_CODES = np.array([0, 1, -1, 0, 2, 1, 0, -1])


def _together(points: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The straightforward way, with all coordinates in one array."""
    present = _CODES >= 0
    by_label = pd.DataFrame(points[present]).groupby(_CODES[present]).mean().to_numpy()
    return by_label, points.mean(axis=0), points[~present].mean(axis=0)


@pytest.mark.parametrize("scale", [1.0, 0.1])  # whole coordinates are counted, others added up one by one
def test_they_are_the_means_of_the_groups(scale: float) -> None:
    column = ByCategory(
        scale * np.array([[1.0, -1.0], [-1.0, 1.0], [-1.0, -1.0]]), np.array([0, 1, 1, 0, -1, 0, 1, 0], np.int8)
    )
    points = CodedPoints([column], 8)[:]
    for found, expected in zip(label_centroids(column, 8, _CODES, 3, False), _together(points), strict=True):
        assert found.tolist() == expected.tolist()


def test_of_an_ordered_variable_the_first_is_the_median() -> None:
    values = np.array([[5.0], [1.0], [0.0], [7.0], [2.0], [3.0], [60.0], [4.0]])
    by_label, overall, none = label_centroids(Coded(values), 8, _CODES, 3, True)
    assert by_label.tolist() == [[7.0], [2.0], [2.0]]
    assert overall.tolist() == [3.5]
    assert none.tolist() == [2.0]  # of the two without a label, the mean


def test_without_a_missing_label_its_place_is_that_of_all() -> None:
    column = ByCategory(np.array([[1.0], [-1.0], [9.0]]), np.array([0, 1, 1, 0], np.int8))
    by_label, overall, none = label_centroids(column, 4, np.array([0, 0, 1, 1]), 2, False)
    assert (by_label.tolist(), overall.tolist(), none.tolist()) == ([[0.0], [0.0]], [0.0], [0.0])


def test_labels_are_numbered_as_they_come_whatever_their_codes() -> None:
    texts = pd.Series(["south", np.nan, "north", "south", "east"])
    categories = texts.astype(pd.CategoricalDtype(["east", "north", "south", "west"]))
    for column in (texts, categories):
        codes, labels = labels_in_order(column)
        assert (codes.tolist(), labels.tolist()) == ([0, -1, 1, 0, 2], ["south", "north", "east"])
