"""Leniency: whether the policy's own settings leave anything of the standard."""

from policies.standard.reference_standard import ReferenceStandard
from sluice.ground.sentence import Sentences, as_fields
from sluice.ground.verdict import Finding, Verdict

_SAYS = Sentences(
    "lenient_standard",
    strict="The policy's own settings do not undo the standard.",
    lenient="The policy's own settings leave little of the standard: {settings:semicolons}.",
)

ASKS = {
    "lenient_standard": (
        "No setting of the policy tolerates more than that with which the standard could still be said to hold."
    ),
}
ADVICE = {
    "lenient_standard": (
        "Bring the settings that the finding names back to their defaults, or let the owner of the policy state in a "
        "waiver why they hold for these data."
    ),
}


def judge_leniency(standard: ReferenceStandard) -> Finding:
    """What this policy tolerates beyond all with which the standard could still be said to hold."""
    lenient = [
        says
        for is_so, says in (
            (standard.margin > 0.1, f"margin {standard.margin:g}"),
            (standard.tail_share > 0.1, f"tail_share {standard.tail_share:g}"),
            (standard.tail_quantile < 0.001, f"tail_quantile {standard.tail_quantile:g}"),
            (standard.copies_excess > 0.1, f"copies_excess {standard.copies_excess:g}"),
            (standard.unique_values_excess > 0.05, f"unique_values_excess {standard.unique_values_excess:g}"),
            (standard.minimum_records < 100, f"minimum_records {standard.minimum_records}"),
            (standard.records < standard.minimum_records, f"only {standard.records} people are attacked"),
            (standard.when_fewer == "judge", "a file of fewer records is judged all the same"),
            (
                standard.learned.found > 0.34,
                f"an intruder who learns may find {standard.learned.found:.0%} of the people",
            ),
            (standard.learned.claims > 0.1, f"and be rightly sure of {standard.learned.claims:.0%}"),
            (
                standard.transparency.identified > 0.34,
                f"an intruder who knows the method may find {standard.transparency.identified:.0%}",
            ),
            (standard.transparency.confident > 0.1, f"and be rightly sure of {standard.transparency.confident:.0%}"),
            (
                standard.transparency.reconstructed > 0.5,
                f"or compute {standard.transparency.reconstructed:.0%} of the values",
            ),
            (
                not standard.learned.binding and not any(intruder.binding for intruder in standard.intruders),
                "no intruder who learns decides",
            ),
            (not standard.transparency.binding, "no intruder who knows the method decides"),
            (
                min(standard.learned.people, standard.transparency.people) < 500,
                "fewer than 500 people are looked for",
            ),
            *(
                (
                    intruder.found > 0.34 or intruder.claims > 0.1 or intruder.gain > 0.2,
                    f"an intruder who knows {intruder.name} may find {intruder.found:.0%}, be rightly sure of "
                    f"{intruder.claims:.0%} or learn {intruder.gain:.0%} more",
                )
                for intruder in standard.intruders
                if intruder.binding
            ),
            (standard.transparency.participation > 0.3, f"participation {standard.transparency.participation:g}"),
            (standard.isolated_excess > 0.5, f"isolated_excess {standard.isolated_excess:g}"),
            ("distance" not in standard.binding, "the prediction distance does not decide"),
        )
        if is_so
    ]
    verdict, says = Verdict.PASS, _SAYS.strict()
    if lenient:
        verdict = Verdict.REVIEW
        says = _SAYS.lenient(settings=lenient)
    return Finding(rule="lenient_standard", verdict=verdict, **as_fields(says), stage="reference")
