"""Amounts that a file caps or leaves blank, beside a table of all of them: what is read, and what a reader guesses."""

from collections.abc import Callable
from functools import cache

import numpy as np
import pandas as pd
import pytest

from sluice.tabular.editions.hidden_amounts import AmountsRead, amounts_read
from sluice.tabular.model.aggregation import aggregate
from sluice.tabular.model.cells import Cells
from sluice.tabular.model.dimension import Dimension

KIND = Dimension.flat("kind", list("abcd"), total="T")
AREA = Dimension.of("area", [("T", ""), ("N", "T"), ("S", "T"), ("n1", "N"), ("n2", "N"), ("s1", "S"), ("s2", "S")])


@cache
def firms(seed: int = 1) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    kind, area = rng.choice(list("abcd"), 600, p=[0.4, 0.3, 0.2, 0.1]), rng.choice(["n1", "n2", "s1", "s2"], 600)
    return pd.DataFrame({"kind": kind, "area": area, "pay": np.round(rng.lognormal(6, 1.3, 600))})


@cache
def table() -> Cells:
    frame, dimensions = firms(), [AREA, KIND]
    leaves = np.column_stack([frame[d.name].map(d.position).to_numpy(np.int32) for d in dimensions])
    return aggregate(dimensions, leaves, np.arange(len(frame)), frame["pay"].to_numpy(np.int64))


def read(file: pd.DataFrame) -> AmountsRead:
    cells = table()
    codes = {name: file[name].to_numpy(object) for name in ("area", "kind")}
    return amounts_read(cells, cells.published, cells.total, codes, file["pay"].to_numpy(float))


def capped(quantile: float = 0.985, frame: pd.DataFrame | None = None) -> pd.DataFrame:
    frame = firms() if frame is None else frame
    return frame.assign(pay=frame["pay"].clip(upper=frame["pay"].quantile(quantile, interpolation="lower")))


def altered(frame: pd.DataFrame, change: Callable[[pd.Series], object]) -> pd.DataFrame:
    return frame.assign(pay=change(frame["pay"]))


def mostly_nothing(seed: int) -> pd.DataFrame:
    """As of gains from capital: nine in ten have none, and cells of nothing agree with whatever file."""
    frame = firms(seed)
    return frame.assign(pay=frame["pay"].where(np.random.default_rng(seed).random(len(frame)) < 0.1, 0.0))


def noisy(pay: pd.Series) -> object:
    return np.round(pay * np.exp(np.random.default_rng(2).normal(0, 0.5, len(pay))))


def blank(pay: pd.Series) -> object:
    return pay.where(np.arange(len(pay)) % 100 != 7)


@pytest.mark.parametrize(
    "file",
    [
        pytest.param(capped(), id="capped"),
        pytest.param(capped(0.97), id="more are capped"),
        pytest.param(altered(capped(), lambda pay: (pay / 20).round() * 20), id="and rounded"),
        pytest.param(
            altered(firms(), lambda pay: pay.where(pay < 8_000, pay[pay >= 8_000].mean())), id="by their mean"
        ),
        pytest.param(altered(firms(), blank), id="blank"),
        pytest.param(altered(firms(), lambda pay: pay.clip(upper=0.5 * pay.max())), id="one alone is capped"),
    ],
)
def test_what_one_record_of_a_cell_hides_is_read(file: pd.DataFrame) -> None:
    found = read(file)
    hidden = file["pay"].isna() | (file["pay"] == file["pay"].max())
    alone = hidden & (hidden.groupby([file["kind"], file["area"]]).transform("sum") == 1)
    news = alone & ~((firms()["pay"] / file["pay"] - 1).abs() < 0.11)
    assert found.discloses
    assert found.right >= int(news.sum()) >= 1


def test_what_is_read_opens_wider_cells() -> None:
    """One of two capped firms of a kind is alone in its area, and the other area's sum is not published."""
    cells, file = table(), capped()
    kind, area = (cells.codes[:, axis] for axis in (1, 0))
    top = file[file["pay"] == file["pay"].max()]
    pairs = [(a, b) for a, b in zip(top.index, top.index[1:], strict=False)]
    assert pairs
    one, other = pairs[0]
    two = file.assign(pay=firms()["pay"].where(~firms().index.isin([one, other])))
    told = cells.published.copy()
    own = two.loc[other, ["kind", "area"]]
    told[(kind == KIND.position[own["kind"]]) & (area == AREA.position[own["area"]])] = False
    codes = {name: two[name].to_numpy(object) for name in ("area", "kind")}
    found = amounts_read(cells, told, cells.total, codes, two["pay"].to_numpy(float))
    assert found.read == found.right == found.hidden == 2


@pytest.mark.parametrize(
    "file",
    [
        pytest.param(firms(), id="nothing is hidden"),
        pytest.param(firms(2), id="other people"),
        pytest.param(capped(frame=firms(2)), id="other people, capped"),
        pytest.param(altered(firms(3), blank), id="other people, blanks"),
        pytest.param(altered(firms(), noisy), id="noise"),
        pytest.param(altered(firms(), lambda pay: pay.sample(frac=1, random_state=1).to_numpy()), id="shuffled"),
        pytest.param(capped(frame=altered(firms(), noisy)), id="noise, capped"),
        pytest.param(altered(capped(), lambda pay: (pay / 2_000).round() * 2_000), id="rounded"),
        pytest.param(capped(0.5), id="half are capped"),
        pytest.param(altered(mostly_nothing(2), blank), id="other people, most with nothing"),
        pytest.param(capped(0.99, mostly_nothing(3)), id="the same, capped"),
        pytest.param(capped().sample(frac=0.7, random_state=1), id="a sample"),
        pytest.param(altered(firms(), lambda pay: pay * np.nan), id="no amounts"),
        pytest.param(capped().assign(kind="x", area="y"), id="no cells"),
        pytest.param(altered(firms(), lambda pay: pay.clip(upper=0.95 * pay.max())), id="as large as it shows"),
    ],
)
def test_what_no_reader_can_work_out_stops_nothing(file: pd.DataFrame) -> None:
    found = read(file)
    assert not found.discloses
    assert found.is_chance
