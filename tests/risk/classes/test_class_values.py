"""Values in classes: near numbers are one value, and people are counted where they are known."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from sluice.risk.classes.class_values import Near, class_values
from sluice.risk.classes.equivalence_classes import equivalence_classes


def test_the_span_that_holds_most_comes_first_and_no_border_parts_it() -> None:
    classes = equivalence_classes([np.array([0, 0, 0, 0, 0, 1, 1])])
    numbers = np.array([0.5, 0.98, 0.99, 1.0, 1.48, 1.0, 5.0])
    found = class_values(classes, Near(numbers, 0.5))
    assert found.holder.tolist() == [0, 0, 1, 1]
    assert found.records.tolist() == [4, 1, 1, 1]  # 0.5 to 1.0, the lower one of two spans that hold as many
    assert found.share.tolist() == [0.8, 0.2, 0.5, 0.5]
    np.testing.assert_allclose(found.overall[found.value], [5 / 7, 1 / 7, 3 / 7, 1 / 7])  # of the whole file


def test_a_chain_of_near_numbers_is_as_many_values_as_its_length_has_widths() -> None:
    numbers = np.arange(0, 10, 0.1)
    found = class_values(equivalence_classes([np.zeros(100, dtype=int)]), Near(numbers, 1.0))
    assert 9 <= len(found.holder) <= 10


@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 20)), min_size=1, max_size=30), st.integers(0, 6))
def test_every_record_is_in_one_span_of_its_class(pairs: list[tuple[int, int]], width: int) -> None:
    label, numbers = (np.array(column) for column in zip(*pairs, strict=True))
    classes = equivalence_classes([label])
    found = class_values(classes, Near(numbers.astype(float), float(width)))
    assert np.bincount(found.holder, found.records).tolist() == classes.sizes.tolist()
    for holder in range(len(classes.sizes)):
        mine = np.sort(numbers[classes.labels == holder])
        most = max(int(((mine >= low) & (mine <= low + width)).sum()) for low in mine)
        assert found.records[found.holder == holder].max() == most
        fewest, beyond = 0, -1
        for number in mine:
            if number > beyond:
                fewest, beyond = fewest + 1, number + width
        assert fewest <= (found.holder == holder).sum() <= 2 * fewest
    assert ((found.overall > 0) & (found.overall <= 1)).all()


def test_people_are_counted_once_for_each_value() -> None:
    classes = equivalence_classes([np.array([0, 0, 0, 0])]).of_people(np.array([0, 0, 1, 1]))
    found = class_values(classes, np.array([0, 0, 0, 1]))
    assert (found.records.tolist(), found.share.tolist()) == ([2, 1], [1.0, 0.5])
    near = class_values(classes, Near(np.array([1.0, 1.1, 1.2, 9.0]), 0.5))
    assert near.share.tolist() == [1.0, 0.5]
