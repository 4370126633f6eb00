"""Sets of items under a contract: how cells are read, what is refused, and what a draft says."""

from pathlib import Path

import pandas as pd
import pytest
from pydantic import ValidationError

from schemas.contract import Contract
from schemas.reading.contract_draft import draft_contract
from schemas.reading.typing import SourceTyping
from sluice.ground.errors import DataError
from sluice.ground.hierarchy import Hierarchy
from sluice.ground.variables import Kind, Variable
from sluice.sources.arrow_source import ParquetSource
from sluice.sources.csv_source import CsvSource
from tests.golden import golden


def contract(**about: object) -> Contract:
    basket = Variable.model_validate({"name": "basket", "kind": "items", "nullable": True} | about)
    return Contract(dataset="shop", version="1", variables=(basket,))


def typed(cells: list[object], **about: object) -> tuple[list[object], Variable]:
    typing = SourceTyping(contract(**about), lambda name, text: text)
    frame = typing.type_batch(pd.DataFrame({"basket": pd.Series(cells, dtype=object)}))
    return frame["basket"].astype(object).where(frame["basket"].notna(), None).tolist(), typing.variables()["basket"]


def test_cells_and_lists_are_the_same_sets() -> None:
    texts, variable = typed(["tea; milk;tea", "", None, ";", "milk"])
    lists, _ = typed([["tea", " milk", "tea"], [], None, [""], ["milk"]])
    assert texts == lists == ["milk;tea", None, None, None, "milk"]
    assert variable.items == ("milk", "tea")


@pytest.mark.parametrize(
    ("cells", "repeated"),
    [
        (["tea; milk;tea", "tea;tea", None, ";", "milk"], 2),
        ([["tea", " milk", "tea"], [], None, ["milk"]], 1),
        (["tea;milk", "milk;tea", "tea;;milk"], 0),
        (pd.Categorical(["tea;tea", "milk", "tea;tea"]), 2),
    ],
)
def test_items_that_a_cell_repeats_are_counted_and_said(cells: list[object], repeated: int) -> None:
    typing = SourceTyping(contract(), lambda name, text: text)
    typing.type_batch(pd.DataFrame({"basket": cells}))
    expected = [("reading.repeated_items", repeated)] if repeated else []
    assert [(each.code, each.count) for each in typing.remarks.all()] == expected


def test_another_separator_and_missing_codes() -> None:
    assert typed(["b|a;c", "none"], separator="|", missing_codes=["none"])[0] == ["a;c|b", None]


def test_sets_that_do_not_keep_to_the_contract_are_counted_and_not_shown() -> None:
    with golden.raises(DataError) as refused:
        typed(["tea", "tea;gin;rum", "gin"], items=["tea", "milk"])
    assert "gin" not in str(refused.value)
    with golden.raises(DataError):
        typed([["tea;milk"], ["tea"]])
    with golden.raises(DataError):
        typed(["tea;te\u200ba"])
    rows = {"tea": ("drink",), "milk": ("drink",)}
    with golden.raises(DataError):
        typed(["tea", "drink"], hierarchy=Hierarchy(rows=rows))  # a group is no item of a source


@pytest.mark.parametrize(
    "about",
    [
        {"categories": ["a", "b"]},
        {"items": ["a", "a"]},
        {"items": ["a;b"]},
        {"separator": "x"},
        {"kind": "nominal", "separator": "|"},
        {"minimum": 1},
        {"items": ["a"], "missing_codes": ["a"]},
        {"items": ["a"], "labels": {"b": "bread"}},
        {"items": ["a", "b"], "hierarchy": {"rows": {"a": ["all"]}}},
        {"hierarchy": {"rows": {"a": ["b"], "b": ["c"]}}},
    ],
)
def test_a_contract_that_contradicts_itself_is_refused(about: dict[str, object]) -> None:
    with golden.raises(ValidationError):
        contract(**about)


@pytest.mark.parametrize(
    ("cells", "asked"),
    [
        ([f"{n},{n % 10}" for n in range(200)], False),
        ([*[f"{n},5 %" for n in range(150)], *["on request"] * 20, *["see below"] * 20, *["later"] * 9], False),
        ([f"{n}.250,75 €" for n in range(100, 300)], False),
        ([f"1,{n:03}.5" for n in range(200)], False),
        ([f"{n % 28 + 1}.12.2024, 10:{n % 60:02}" for n in range(200)], False),
        ([f"{n % 9},{n % 7},{n % 5}" for n in range(200)], True),  # codes of several answers
    ],
)
def test_a_number_with_a_comma_is_no_set(tmp_path: Path, cells: list[str], asked: bool) -> None:
    pd.DataFrame({"x": cells}).to_parquet(tmp_path / "x.parquet")
    assert ("check: items" in draft_contract(ParquetSource(path="x.parquet").resolve(tmp_path), "x")) is asked


def test_a_draft_knows_lists_and_asks_about_separated_texts(tmp_path: Path) -> None:
    cells = [f"item {n % 7};item {n % 5}" for n in range(200)]
    pd.DataFrame({"basket": cells}).to_csv(tmp_path / "shop.csv", index=False)
    drafted = draft_contract(CsvSource(path="shop.csv").resolve(tmp_path), "shop")
    assert 'check: items if a cell holds several values; then add separator: ";"' in drafted
    pd.DataFrame({"basket": [cell.split(";") for cell in cells]}).to_parquet(tmp_path / "shop.parquet")
    source = ParquetSource(path="shop.parquet").resolve(tmp_path)
    assert f"kind: {Kind.ITEMS}\n" in draft_contract(source, "shop")
    assert "item 3" not in draft_contract(source, "shop")
