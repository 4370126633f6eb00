"""Turned coefficients: what a reader of the masked file would report otherwise than one of the original.

A model that keeps most of its precision may still have one effect of the wrong sign, and that is the one that is
published. So a coefficient that turned needs a decision, whatever the mean overlap of all intervals is.
"""

from collections.abc import Iterator, Sequence
from math import erfc, inf, sqrt

from sluice.ground.declaration import Declaration
from sluice.ground.sentence import END, Sentence, Sentences, as_fields
from sluice.ground.verdict import Finding, Verdict
from sluice.utility.analyses.design_matrix import INTERCEPT
from sluice.utility.analyses.models import CLEAR, OF_NORMAL, ComparedCoefficient, ComparedModel, Turn

RULE = "turned_coefficients"
_NAMED = 5
_BY_CHANCE = 0.05  # of files of other people, in which a coefficient turns
_HALVINGS = 20  # of the interval in which the smallest distance is looked for

_SAYS = Sentences(
    RULE,
    none="None of {of:,} coefficients of {models:count_model} that can be compared changed its sign, lost a clear "
    "effect or shows a new one",
    some="{count:,} of {of:,} coefficients of {models:count_model} that can be compared would be read otherwise than "
    "in the original: {names:semicolons}",
    all_missing="None of {gone:,} coefficients of {models:count_model} can be compared",
    more=", and {more:,} more",
    drafted=" (the models were drafted from roles and kinds, as no analysis is named)",
    missing=". {gone:,} more cannot be had from the masked file",
    hidden=". {hidden:,} more of {models:count_model} {hidden:verb_rest} on too few records to be shown",
    missing_clear=", {clear:,} of them clear in the original",
)
_TURNS: dict[Turn, Sentence] = {
    "sign": Sentence(f"{RULE}.sign", "{term} changed its sign ({model})"),
    "lost": Sentence(f"{RULE}.gone", "{term} is no longer told from 0 ({model})"),
    "made": Sentence(f"{RULE}.made", "{term} looks clear and was not ({model})"),
}

TURNED_COEFFICIENTS = Declaration(
    RULE,
    about="Users report signs and significant effects. This compares them, for each coefficient that both files give, "
    "with its 95 % interval: other signs, and an effect that is clear (p < .001) in one file and not told from 0 in "
    "the other. What two independent samples would show counts as chance: of 20 files of other people, one has a "
    "coefficient that turns, however many are looked at.",
    asks="No coefficient of a model, named or drafted, changes its sign, loses a clear effect or shows a new one.",
    helps="Mask the variables of that model together or less, or leave one of them out. If the file is to be released "
    "all the same, accept the finding: the codebook then says for which analyses the file must not be used.",
    waivable=True,
)


def beyond_chance(models: Sequence[ComparedModel]) -> tuple[ComparedModel, ...]:
    """The models with the distance (`ComparedCoefficient.apart`) that a coefficient has to exceed to have turned.

    Two independent samples of one population differ by chance, and the more coefficients are looked at, the more often
    one of them turns. Given the mean of its two estimates, which tells nothing of their difference, a coefficient turns
    only beyond a certain difference: one of a clear mean far from 0, or of a mean near 0, hardly ever does. The
    distance is the smallest at which the probabilities of all coefficients add up to 5 % at most.

    Source: Tarone (1990), Biometrics 46, 515: hypotheses that can hardly be rejected are not counted; Bonferroni's sum.
    cost  : O(coefficients)
    """
    needed = [each for model in models for one in model.looked_at if one.term != INTERCEPT for each in _needed(one)]
    low, high = OF_NORMAL, 10.0
    if _expected(needed, low) > _BY_CHANCE:
        for _ in range(_HALVINGS):
            middle = (low + high) / 2
            low, high = (middle, high) if _expected(needed, middle) > _BY_CHANCE else (low, middle)
        low = high

    def apart(several: tuple[ComparedCoefficient, ...]) -> tuple[ComparedCoefficient, ...]:
        return tuple(one.model_copy(update={"apart": low}) for one in several)

    return tuple(
        model.model_copy(update={"coefficients": apart(model.coefficients), "recoded": apart(model.recoded)})
        for model in models
    )


def _needed(one: ComparedCoefficient) -> Iterator[float]:
    """From which difference on, in its standard errors, the estimates turn, given their weighted mean: with the
    original's on the far side of it from 0, and on the near side."""
    if one.after is None or one.after_high is None:
        return
    here, there = (one.before_high - one.before) / OF_NORMAL, (one.after_high - one.after) / OF_NORMAL
    if not (0 < here < inf and 0 < there < inf):
        return
    both = here**2 + there**2
    mean = abs(one.before * there**2 + one.after * here**2) / both
    for far, near in ((here, there), (there, here)):
        moves, stays = far**2 / both, near**2 / both  # what of a difference each of them is off the mean
        clear = max((CLEAR * far - mean) / moves, (mean - OF_NORMAL * near) / stays)
        sign = max((OF_NORMAL * far - mean) / moves, (mean + OF_NORMAL * near) / stays)
        yield min(clear, sign) / sqrt(both)


def _expected(needed: Sequence[float], apart: float) -> float:
    """Coefficients that turn by chance, on average, where none does nearer than `apart`."""
    return sum(erfc(max(apart, each) / sqrt(2)) / 2 for each in needed)


def turned_finding(models: Sequence[ComparedModel]) -> Finding | None:
    """REVIEW where a coefficient of any model turned, of those that may be shown; None where no model has any.

    A model of the recoded original stands in for categories that the original does not have. What the masked file
    cannot give is counted, and held to the limits on models.
    """
    of = sum(one.after is not None for model in models for one in model.looked_at)
    gone = sum(model.lost for model in models)
    if not of + gone:
        return None
    turned = [(model.name, one) for model in models for one in model.turned]
    fitted = sum(1 for model in models if model.coefficients)
    told = tuple(_in_words(name, one.term, one.turned) for name, one in turned[:_NAMED] if one.turned)
    says = (
        _SAYS.some(count=len(turned), of=of, models=fitted, names=told)
        if turned
        else _SAYS.none(of=of, models=fitted)
        if of
        else _SAYS.all_missing(gone=gone, models=fitted)
    )
    if len(turned) > _NAMED:
        says += _SAYS.more(more=len(turned) - _NAMED)
    if any(model.drafted for model in models):
        says += _SAYS.drafted()
    if of and gone:
        says += _SAYS.missing(gone=gone)
    if clear := sum(one.after is None and one.is_clear for model in models for one in model.coefficients):
        says += _SAYS.missing_clear(clear=clear)
    if hidden := [model.hidden for model in models if model.hidden]:
        says += _SAYS.hidden(hidden=sum(hidden), models=len(hidden))
    return Finding(
        rule=RULE,
        verdict=Verdict.REVIEW if turned else Verdict.PASS,
        stage="utility",
        attempted=of + gone,
        completed=of,
        binding=bool(turned),
        **as_fields(says + END()),
    )


def _in_words(model: str, term: str, turn: Turn) -> str:
    (said,) = _TURNS[turn](term=term, model=model)
    return said.text
