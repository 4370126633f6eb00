"""A measure that crashes is no small risk: it is UNKNOWN, and UNKNOWN blocks."""

import sys
from collections.abc import Callable, Sequence

from sluice.ground.errors import SluiceError
from sluice.ground.machine import give_back_memory
from sluice.ground.progress import report
from sluice.ground.sentence import Sentences, as_fields
from sluice.ground.verdict import Finding, Verdict
from sluice.ground.visible_text import visible
from tasks.failure import explain

_SAYS = Sentences(
    "measure",
    refused="{why}",
    stopped="The measure stopped with {error}.",
    nothing="It found nothing to measure.",
)

_MUCH = 2 << 30  # bytes of a process, from which on it is worth the tenths of a second between two measures


def findings_of(rule: str, stage: str, measure: Callable[[], Sequence[Finding]]) -> list[Finding]:
    """What `measure` found; one UNKNOWN finding when it raised an exception or found nothing at all."""
    report(f"{rule.replace('_', ' ')}, {stage}")
    try:
        findings = list(measure())
    except Exception as error:
        refused = isinstance(error, SluiceError)
        why = _SAYS.refused(why=str(error)) if refused else _SAYS.stopped(error=type(error).__name__)
        print(visible(f"sluice: {rule} on the {stage} data: {explain(error)}"), file=sys.stderr)
        return [Finding(rule=rule, verdict=Verdict.UNKNOWN, stage=stage, **as_fields(why))]
    finally:
        give_back_memory(_MUCH)  # of a large file the next measure may need what this one had
    return findings or [Finding(rule=rule, verdict=Verdict.UNKNOWN, stage=stage, **as_fields(_SAYS.nothing()))]
