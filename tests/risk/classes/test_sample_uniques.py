import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from sluice.risk.classes.equivalence_classes import equivalence_classes
from sluice.risk.classes.sample_uniques import sample_uniques, sample_uniques_share


def test_table_2_3_has_four_uniques() -> None:
    """Desfontaines (2020), Table 2.3: all combinations of ZIP code and age are unique."""
    zip_code, age = np.array([0, 1, 0, 1]), np.array([0, 0, 1, 1])
    frequencies = equivalence_classes([zip_code, age]).frequencies
    assert sample_uniques(frequencies) == 4
    assert sample_uniques_share(frequencies) == 1.0


@given(st.lists(st.integers(0, 8), min_size=1, max_size=30))
def test_uniques_are_the_values_that_occur_once(values: list[int]) -> None:
    frequencies = equivalence_classes([np.array(values)]).frequencies
    assert sample_uniques(frequencies) == sum(values.count(value) == 1 for value in values)


def test_doubling_a_file_leaves_no_unique() -> None:
    assert sample_uniques(equivalence_classes([np.tile(np.arange(5), 2)]).frequencies) == 0
