"""What a finding adds where its interval lies on both sides of the limit."""

from sluice.ground.sentence import Saying, Sentence
from sluice.ground.verdict import Verdict

_THAT = "that may be chance, so a person must decide."
_NEAR = Sentence(
    "near_limit", f" The figure itself {{side}} the limit, but its 95 % confidence interval crosses it: {_THAT}"
)
_INTERVAL = Sentence(
    "near_limit.interval",
    " The figure itself {side} the limit, but its 95 % confidence interval, {low:.1%} to {high:.1%}, crosses it: "
    f"{_THAT}",
)


def if_near(
    verdict: Verdict, value: float, limit: float, interval: tuple[float | str, float | str] | None = None
) -> Saying:
    """What to add when the interval crosses the limit; else nothing.

    value, limit : the larger is worse; the sentence says on which side of the limit the figure itself lies
    interval     : its ends, as words where they are written in another way; None where they would tell of a few people
    """
    if verdict is not Verdict.REVIEW:
        return ()
    side = "keeps" if value <= limit else "is beyond"
    return _NEAR(side=side) if interval is None else _INTERVAL(side=side, low=interval[0], high=interval[1])
