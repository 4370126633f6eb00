"""What the first screen quotes of a finding holds the figure that decided, whatever else the finding says."""

import re
from collections.abc import Iterable, Iterator

import pytest

from sluice.ground.verdict import Finding
from sluice.report.wording import quoted


def misquoted(findings: Iterable[Finding]) -> list[str]:
    """What is quoted of findings, cut to 38 and 19 words, and holds no number as large as the figure that decided."""
    return [
        says
        for each in findings
        if each.observed is not None and each.limit is not None
        for words in (38, 19)
        if (says := quoted(each, words)) != each.says
        and not any(number == pytest.approx(each.observed, rel=0.02, abs=1e-3) for number in _numbers(says))
    ]


def _numbers(says: str) -> Iterator[float]:
    for figure, of in re.findall(r"([−-]?[\d,.]*\d)(?: in every ([\d,]+))?", says):
        value = float(figure.replace(",", "").replace("−", "-"))
        yield value
        yield value / int(of.replace(",", "") or 100)
