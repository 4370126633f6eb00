"""What came of the attacks on a table, in words on the terminal."""

from typing import Any

from flows.cli.terminal import say

_FEW = 10


def print_audit(summary: dict[str, Any]) -> None:
    """What came of the attacks, in words."""
    breaches, attacks = summary["breaches"], summary["attacks"]
    if not breaches and attacks["attempted"] == attacks["completed"]:
        says = f"audit: safe against all {attacks['attempted']:,} attacks"
    elif breaches:
        says = f"audit: NOT SAFE, {len(breaches):,} breaches"
    else:
        says = f"audit: UNKNOWN, {attacks['attempted'] - attacks['completed']:,} attacks were not decided"
    say(says)
    print_breaches(breaches)
    if summary["narrowest"]:
        first = dict(summary["narrowest"][0])
        ratio = first.pop("width_per_width_asked")
        name = ", ".join(f"{dimension} {code}" for dimension, code in first.items())
        wide = "just" if f"{ratio:.3g}" == "1" else f"{ratio:.3g} times"
        say(f"narrowest: {name}, an interval {wide} as wide as asked")


def print_breaches(breaches: list[str]) -> None:
    for breach in breaches[:_FEW]:
        say(f"  - {breach}")
    if len(breaches) > _FEW:
        say(f"  and {len(breaches) - _FEW:,} more (--json lists all)")
