from pathlib import Path

import numpy as np
import pandas as pd
from hypothesis import given
from hypothesis import strategies as st

from sluice.risk.classes.classes_with_missing_keys import matching_records
from sluice.risk.classes.equivalence_classes import classes_of
from sluice.risk.classes.k_anonymity import k_anonymity, records_below
from sluice.risk.classes.sample_uniques import sample_uniques, sample_uniques_share

KEYS = ["urbrur", "roof", "walls", "water", "electcon", "relat", "sex"]


def test_testdata_has_the_risky_records_that_sdcmicro_counts(reference_data: Path) -> None:
    """sdcMicro, for its `testdata` and these 7 keys: 157, 281 and 458 records violate 2-, 3- and 5-anonymity."""
    frame = pd.read_csv(reference_data / "sdcmicro_testdata" / "testdata.csv.gz")[KEYS].astype("category")
    frequencies = classes_of(frame, KEYS).frequencies
    assert (sample_uniques(frequencies), records_below(frequencies, 3), records_below(frequencies, 5)) == (
        157,
        281,
        458,
    )
    assert records_below(frequencies, 2) == 157
    assert k_anonymity(frequencies) == 1
    assert sample_uniques_share(frequencies) == 157 / 4580


@given(st.lists(st.integers(0, 3), min_size=1, max_size=20), st.lists(st.integers(0, 1), min_size=20, max_size=20))
def test_a_further_key_never_enlarges_the_crowd(one: list[int], two: list[int]) -> None:
    frame = pd.DataFrame({"one": one, "two": two[: len(one)]}, dtype="Int64")
    fewer = classes_of(frame, ["one"]).frequencies
    more = classes_of(frame, ["one", "two"]).frequencies
    assert k_anonymity(more) <= k_anonymity(fewer) <= len(frame)
    assert sample_uniques(more) >= sample_uniques(fewer)
    assert records_below(more, k_anonymity(more)) == 0 < records_below(more, k_anonymity(more) + 1)


def test_a_record_with_a_missing_key_is_counted_not_dropped() -> None:
    """A group-by that drops missing keys reports 3 here, although one record stands alone."""
    frame = pd.DataFrame({"age": ["30", "30", "30", None]}).astype("category")
    assert k_anonymity(classes_of(frame, ["age"]).frequencies) == 1
    assert matching_records(frame, ["age"]).tolist() == [3, 3, 3, 4]


def test_extremes() -> None:
    alone, together = np.array([1]), np.full(6, 6)
    assert (k_anonymity(alone), sample_uniques_share(alone), records_below(alone, 1)) == (1, 1.0, 0)
    assert (k_anonymity(together), sample_uniques_share(together), records_below(together, 7)) == (6, 0.0, 6)
