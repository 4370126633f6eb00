"""What a finding adds where its interval lies on both sides of the limit."""

from sluice.verdict import Verdict


def if_near(verdict: Verdict, value: float, limit: float, interval: str = "") -> str:
    """A sentence with a blank before it when the interval crosses the limit; else ''.

    value, limit : the larger is worse; the sentence says on which side of the limit the figure itself lies
    interval     : its ends in words, such as '1.2 % to 3.4 %'; '' where they would tell of a few people
    """
    if verdict is not Verdict.REVIEW:
        return ""
    side = "keeps" if value <= limit else "is beyond"
    ends = f", {interval}," if interval else ""
    return (
        f" The figure itself {side} the limit, but its 95 % confidence interval{ends} crosses it: that may be chance, "
        "so a person must decide."
    )
