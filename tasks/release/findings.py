"""A measure that crashes is no small risk: it is UNKNOWN, and UNKNOWN blocks."""

import sys
from collections.abc import Callable, Sequence

from sluice.errors import SluiceError
from sluice.machine import give_back_memory
from sluice.progress import report
from sluice.reading.visible_text import visible
from sluice.verdict import Finding, Verdict
from tasks.failure import explain

_MUCH = 2 << 30  # bytes of a process, from which on it is worth the tenths of a second between two measures


def findings_of(rule: str, stage: str, measure: Callable[[], Sequence[Finding]]) -> list[Finding]:
    """What `measure` found; one UNKNOWN finding when it raised an exception or found nothing at all."""
    report(f"{rule.replace('_', ' ')}, {stage}")
    try:
        findings = list(measure())
    except Exception as error:
        why = str(error) if isinstance(error, SluiceError) else f"The measure stopped with {type(error).__name__}."
        print(visible(f"sluice: {rule} on the {stage} data: {explain(error)}"), file=sys.stderr)
        return [Finding(rule=rule, verdict=Verdict.UNKNOWN, stage=stage, says=why)]
    finally:
        give_back_memory(_MUCH)  # of a large file the next measure may need what this one had
    nothing = "It found nothing to measure."
    return findings or [Finding(rule=rule, verdict=Verdict.UNKNOWN, stage=stage, says=nothing)]
