"""Perturbation tables as ptable writes them: the same figure for the same key as tau-ARGUS and cellKey give."""

from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from sluice.ground.errors import DataError
from sluice.sources.perturbation_file import p_table_text, read_intervals
from sluice.tabular.alternatives.perturbation_table import PerturbationTable
from tests.golden import golden

# ptab_freq.txt of tau-ARGUS 4.2, data/cellkey/Magnitude (facts): its counts 0 to 3, and its last one, 8, as 4.
ROWS = """i;j;p;v;p_int_ub
0;0;1;0;1
1;0;0.73446954;-1;0.73446954
1;3;0.13672019;2;0.87118973
1;4;0.07279631;3;0.94398604
1;5;0.03742956;4;0.9814156
1;6;0.0185844;5;1
2;0;0.40880704;-2;0.40880704
2;3;0.40664356;1;0.8154506
2;4;0.14762399;2;0.96307459
2;5;0.03231882;3;0.99539341
2;6;0.00426687;4;0.99966028
2;7;0.00033972;5;1
3;0;0.18737598;-3;0.18737598
3;3;0.5;0;0.68737598
3;4;0.15629816;1;0.84367414
3;5;0.09081388;2;0.93448801
3;6;0.04324201;3;0.97773003
3;7;0.01687388;4;0.99460391
3;8;0.00539609;5;1
"""


def table(text: str, folder: Path) -> PerturbationTable:
    (folder / "p.txt").write_text(text, encoding="utf-8")
    return PerturbationTable.of_intervals(read_intervals(folder / "p.txt"))


def as_fractions(keys: list[float]) -> np.ndarray:
    return np.array([int(key * 2**64) for key in keys], dtype=np.uint64)


def test_each_key_gives_the_noise_of_its_interval(tmp_path: Path) -> None:
    """Read off the file, without the code that looks it up: the first end that is not below the key."""
    made = table(ROWS, tmp_path)
    assert (made.maximum, made.threshold) == (5, 2)
    lines = [[float(each) for each in line.split(";")] for line in ROWS.splitlines()[1:]]
    keys = [(at + 0.5) / 997 for at in range(997)]
    for count in (0, 1, 2, 3):
        own = [(end, int(noise)) for i, _, _, noise, end in lines if i == count]
        expected = [next(noise for end, noise in own if key <= end) for key in keys]
        assert made.noise(np.full(997, count), as_fractions(keys)).tolist() == expected
    assert made.noise(np.array([4, 900]), as_fractions([0.7, 0.7])).tolist() == [1, 1]


def test_a_key_at_an_end_belongs_to_it(tmp_path: Path) -> None:
    rows = "i,j,p,v,p_int_lb,p_int_ub\n0,0,1,0,0,1\n1,0,0.5,-1,0,0.5\n1,2,0.5,1,0.5,1\n"
    made = table(rows, tmp_path)
    assert made.noise(np.array([1, 1, 1]), as_fractions([0.5, 0.5 + 1e-9, 0.0])).tolist() == [-1, 1, -1]


def test_intervals_in_another_order_than_the_noise(tmp_path: Path) -> None:
    """ptable's modify_cnt_ptable orders them so that what stays has the last keys."""
    rows = "i;j;p;v;p_int_ub\n0;0;1;0;1\n1;1;0.5;0;1\n1;0;0.25;-1;0.25\n1;2;0.25;1;0.5\n"
    made = table(rows, tmp_path)
    assert made.noise(np.ones(4, dtype=int), as_fractions([0.1, 0.4, 0.6, 0.99])).tolist() == [-1, 1, 0, 0]
    assert p_table_text(made).splitlines()[2:] == ["1;0;0.25;-1;0.25", "1;1;0.5;0;1", "1;2;0.25;1;0.5"]


@pytest.mark.parametrize("asked", [(5, 3, 2), (2, 1, 0), (4, 2.5, 1)])
def test_what_is_written_is_read_back(asked: tuple[int, float, int], tmp_path: Path) -> None:
    ours = PerturbationTable.of_largest_entropy(*asked)
    again = table(p_table_text(ours), tmp_path)
    assert (again.maximum, again.threshold) == (ours.maximum, ours.threshold)
    assert again.probabilities == pytest.approx(ours.probabilities, abs=1e-9)
    keys = as_fractions([(at + 0.5) / 501 for at in range(501)])
    for count in range(12):
        assert np.array_equal(again.noise(np.full(501, count), keys), ours.noise(np.full(501, count), keys))
    for line, after in pairwise(p_table_text(ours).splitlines()[1:]):
        if line.split(";")[0] == after.split(";")[0]:
            assert float(line.split(";")[4]) < float(after.split(";")[4])


@pytest.mark.parametrize(
    "text",
    [
        "",
        "a;b\n1;2\n",
        ROWS.replace("p_int_ub", "p_int"),
        ROWS.replace("1;3;0.13672019", "1;4;0.13672019"),
        ROWS.replace("0.13672019", "0.23672019"),
        ROWS.replace("0.13672019", "much"),
        ROWS.replace("3;3;0.5;0;0.68737598", "3;3;0.5;0;0.5"),
        ROWS.replace("0;0;1;0;1", "0;0;0.5;0;0.5\n0;1;0.5;1;1"),
        ROWS.replace("1;0;0.73446954;-1;0.73446954\n", "1;-1;0.73446954;-2;0.73446954\n"),
        ROWS.replace("2;7;0.00033972;5;1", "2;7;0.00033972;5;1\n2;7;0.00033972;5;1"),
        "i;j;p;v;p_int_ub\n0;0;1;0;1\n1;1;0.5;0;0.5\n1;2;0.5;1;1\n",
        "i;j;p;v;p_int_ub;type\n1;1;1;0;1;even\n",
        "i;j;p;v;p_int_ub\n5000;5000;1;0;1\n",
    ],
)
def test_refused(text: str, tmp_path: Path) -> None:
    golden.refused(DataError, table, text, tmp_path)


def test_no_file(tmp_path: Path) -> None:
    golden.refused(DataError, read_intervals, tmp_path / "none.txt")
