"""The traces that docs/deployment.md describes: a span for each run and step, and nothing of the data in any."""

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.flows.forks import Run
from tests.flows.house import ERROR, WAITING, House
from tests.flows.test_canary import EXCEPTION, canaries, found_in, plant, seed_spellings, spellings

pytestmark = pytest.mark.servers


def test_spans_tell_of_steps_and_of_nothing_in_the_data(
    house: House, tmp_path: Path, forks_on_prefect: Callable[..., Run]
) -> None:
    plant(house)
    traced = {"trace": {"file": str(tmp_path / "spans")}}
    fault = {"place": "mask", "text": EXCEPTION}
    assert forks_on_prefect(house.home, "release", str(house.file), raise_in=fault, **traced).code == ERROR
    assert forks_on_prefect(house.home, "release", str(house.file), **traced).code == WAITING

    spans = {"spans": tmp_path / "spans"}
    steps = {name: [f'"name": "{name}'.encode()] for name in ("ingest", "validate", "mask", "evaluate")}
    told = {**steps, "exception": [b"ValueError"], "run": [b"prefect.run.name"]}
    assert {line.partition(" in ")[0] for line in found_in(spans, told)} == told.keys()
    needles = canaries() | {"seed": seed_spellings(house.home), "exception": spellings(EXCEPTION)}
    assert found_in(spans, needles) == []
