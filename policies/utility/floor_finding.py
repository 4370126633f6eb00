"""Floor finding: the finding of a figure that is better the larger it is."""

from math import isfinite, isnan

from sluice.ground.sentence import Saying, Sentence, as_fields
from sluice.ground.verdict import Finding, Verdict
from sluice.utility.analyses.asked_analyses import Floor
from sluice.utility.measured import NO_LIMIT

_ASKS = Sentence("utility.asks", "; the policy asks for {limit:.2f}.")

_ROUNDING = 1e-9  # equal files agree by 1 but for rounding


def floor_finding(
    rule: str, floor: Floor | None, value: float, says: Saying, scope: str, attempted: int, completed: int
) -> Finding:
    """Under a floor, or reported where there is none, stage "utility"; NaN is `UNKNOWN`.

    says : without the stop at its end
    """
    if isnan(value):
        verdict = Verdict.UNKNOWN
    else:
        verdict = Verdict.FAIL if floor is not None and value < floor.at_least - _ROUNDING else Verdict.PASS
    asks = NO_LIMIT() if floor is None else _ASKS(limit=floor.at_least)
    return Finding(
        rule=rule,
        verdict=verdict,
        stage="utility",
        scope=scope,
        observed=value if isfinite(value) else None,
        limit=None if floor is None else floor.at_least,
        attempted=attempted,
        completed=completed,
        binding=floor is not None and floor.binding,
        **as_fields(says + asks),
    )
