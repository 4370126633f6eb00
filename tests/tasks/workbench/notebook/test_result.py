"""What every result has: figures with units, a sentence, a page and a plot; and that nothing is left on the disk."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest

from tests.golden import golden

mpl.use("Agg")

import sluice

SCRIPT = "<script>alert('$x$ & y')</script>"
RULES = [{"rule": "minimum_frequency", "n": 5}]


def hostile() -> pd.DataFrame:
    """Records whose column names and categories would be run, or drawn as a formula, if they could."""
    rng = np.random.default_rng(0)
    return pd.DataFrame(
        {
            SCRIPT: rng.choice(["<b>", "$\\frac$", "plain"], 1200),
            "b": rng.choice(["x", "y", "</table>"], 1200),
            "w": rng.uniform(1, 9, 1200),
        }
    )


def suppressed() -> pd.DataFrame:
    return sluice.protect(hostile().head(80), [SCRIPT, "b"], rules=RULES).pattern


MADE: dict[str, Callable[[], Any]] = {
    "k_anonymity": lambda: sluice.k_anonymity(hostile(), [SCRIPT, "b", "w"]),
    "suda": lambda: sluice.suda(hostile(), [SCRIPT, "b", "w"], sampling_fraction=0.1),
    "disassociate": lambda: sluice.disassociate(hostile().assign(**{SCRIPT: SCRIPT}), SCRIPT, seed=1),
    "individual_risk": lambda: sluice.individual_risk(hostile(), [SCRIPT, "b"], weight="w"),
    "mask": lambda: sluice.mask(hostile(), {"method": "pram", "columns": [SCRIPT, "b"], "retention": 0.9}, seed=1),
    "hierarchy": lambda: sluice.hierarchy(
        {"priority": [["plain"]], "others": SCRIPT}, values=["<b>", "$\\frac$", "plain"], records=hostile()[SCRIPT]
    ),
    "singling_out": lambda: sluice.singling_out(hostile(), hostile(), hostile().sample(frac=1), attacks=100, seed=1),
    "reference_standard": lambda: sluice.reference_standard(hostile(), hostile(), seed=1),
    "assess": lambda: sluice.assess(hostile(), hostile(), quasi_identifiers=[SCRIPT], sensitive=["b"], seed=1),
    "compare": lambda: sluice.compare(
        hostile(), {SCRIPT: hostile(), "b": hostile()}, quasi_identifiers=[SCRIPT], sensitive=["b"], seed=1
    ),
    "protect": lambda: sluice.protect(hostile().head(80), [SCRIPT, "b"], rules=RULES),
    "protect by rounding": lambda: sluice.protect(
        hostile().head(80), [SCRIPT, "b"], rules=RULES, method={"method": "controlled_rounding", "base": 5}
    ),
    "audit": lambda: sluice.audit(suppressed(), [SCRIPT, "b"]),
    "audit with records": lambda: sluice.audit(suppressed(), [SCRIPT, "b"], records=hostile().head(80), rules=RULES),
}


@pytest.fixture(scope="module", params=sorted(MADE))
def result(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Any:
    """Made and drawn in an empty folder, which is empty afterwards."""
    folder = tmp_path_factory.mktemp("empty")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        made = MADE[request.param]()
        made.plot()
        made._repr_html_()
    assert list(folder.iterdir()) == []
    return made


def test_every_function_is_here() -> None:
    assert {name.split()[0] for name in MADE} == set(sluice.__all__) - {"__version__"}


def test_figures_have_a_unit_and_a_meaning(result: Any) -> None:
    figures = result.figures
    assert list(figures) == ["value", "unit", "meaning"]
    assert len(figures) >= 4
    assert figures["meaning"].str.len().gt(3).all()
    for name, value in figures["value"].items():
        assert value is getattr(result, str(name)) or value == getattr(result, str(name))
        assert value is None or isinstance(value, bool | int | float | tuple)
        assert isinstance(value, bool) or figures.loc[name, "unit"]


def test_it_says_a_sentence(result: Any) -> None:
    assert result.says.endswith((".", ")"))
    assert result.says in repr(result)


def test_its_page_is_small_escaped_and_stands_alone(result: Any) -> None:
    page = result._repr_html_()
    assert len(page) < 30_000
    assert "<script" not in page
    assert "<b>" not in page
    assert not any(word in page for word in ("http", "src=", "url(", "@import"))
    assert page.count("<table") == page.count("</table>")


def test_it_draws_on_the_axes_that_are_given(result: Any, tmp_path: Path) -> None:
    from matplotlib import pyplot

    figure, axes = pyplot.subplots()
    assert result.plot(ax=axes) is axes
    assert axes.get_xlabel() or axes.get_ylabel()
    assert axes.patches or axes.lines or axes.collections
    figure.savefig(tmp_path / "drawn.png")  # a name that were taken for a formula would fail here
    pyplot.close("all")
    golden.refused(TypeError, result.plot, ax=figure)


def test_a_page_holds_no_record(fair: pd.DataFrame) -> None:
    """Notebooks are saved with their output."""
    planted = fair.assign(affairs=fair["affairs"].mask(fair.index == 7, 31.41592653))
    found = sluice.mask(planted, {"method": "rank_swapping", "columns": ["affairs"], "window": 0.1}, seed=1)
    assert "31.4" not in found._repr_html_() + repr(found)
