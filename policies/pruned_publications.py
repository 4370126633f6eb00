"""Pruned publications: what was published before, of data that were deleted by a rule of retention.

Who adopted that rule decided that nobody can compare with them any more; that it is safe, nobody has shown. So a person
decides on each, and a waiver names it.
"""

from collections.abc import Sequence

from sluice.ground.declaration import Declaration
from sluice.ground.sentence import Sentence, as_fields
from sluice.ground.verdict import Finding, Verdict

_DELETED = Sentence(
    "pruned_publications.deleted",
    "The data of {release} were deleted by its policy's retention, so its joint disclosure with this "
    "release cannot be measured.",
)

RULE = "pruned_publications"


PRUNED = (
    Declaration(
        "pruned_publications",
        helps="Let somebody who knows the earlier publication decide whether the two tell more together, and waive it "
        "by name; where further editions of the same people will come, keep the data until the last of them.",
        waivable=True,
    ),
)


def judge_pruned(releases: Sequence[str]) -> list[Finding]:
    """One finding for each of these releases, which nobody can compare with any more."""
    return [
        Finding(
            rule=RULE, verdict=Verdict.REVIEW, stage="masked", scope=release, attempted=1, completed=0,
            **as_fields(_DELETED(release=release)),
        )
        for release in releases
    ]  # fmt: skip
