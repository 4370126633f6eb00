"""Turned coefficients: what a reader of the masked file would report otherwise than one of the original.

A model that keeps most of its precision may still have one effect of the wrong sign, and that is the one that is
published. So a coefficient that turned needs a decision, whatever the mean overlap of all intervals is.
"""

from collections.abc import Sequence

from sluice.ground.declaration import Declaration
from sluice.ground.sentence import END, Sentence, Sentences, as_fields
from sluice.ground.verdict import Finding, Verdict
from sluice.utility.analyses.models import ComparedModel, Turn

RULE = "turned_coefficients"
_NAMED = 5

_SAYS = Sentences(
    RULE,
    none="None of {of:,} coefficients of {models:count_model} changed its sign, was lost although clear, or appeared",
    some="{count:,} of {of:,} coefficients of {models:count_model} would be read otherwise than in the original: "
    "{names:semicolons}",
    more=", and {more:,} more",
    drafted=" (the models were drafted from roles and kinds, as no analysis is named)",
)
_TURNS: dict[Turn, Sentence] = {
    "sign": Sentence(f"{RULE}.sign", "{term} changed its sign ({model})"),
    "lost": Sentence(f"{RULE}.gone", "{term} is no longer told from 0 ({model})"),
    "made": Sentence(f"{RULE}.made", "{term} looks clear and was not ({model})"),
}

TURNED_COEFFICIENTS = Declaration(
    RULE,
    about="Users report signs and significant effects. This compares them, for each coefficient that both files give, "
    "with its 95 % interval. An effect that is clear (p < .001) in one file and not told from 0 in the other counts "
    "where the estimates differ by more than those of two independent samples would in 95 of 100 cases.",
    asks="No coefficient of a model, named or drafted, changes its sign, loses a clear effect or shows a new one.",
    helps="Mask the variables of that model together or less, or leave one of them out. If the file is to be released "
    "all the same, accept the finding: the codebook then says for which analyses the file must not be used.",
    waivable=True,
)


def turned_finding(models: Sequence[ComparedModel]) -> Finding | None:
    """REVIEW where a coefficient of any model turned, of those that may be shown; None where no model has any.

    A model of the recoded original stands in for categories that the original does not have.
    """
    of = sum(len(model.coefficients) for model in models)
    if not of:
        return None
    turned = [(model.name, one) for model in models for one in model.turned]
    fitted = sum(1 for model in models if model.coefficients)
    told = tuple(_in_words(name, one.term, one.turned) for name, one in turned[:_NAMED] if one.turned)
    says = (
        _SAYS.some(count=len(turned), of=of, models=fitted, names=told) if turned else _SAYS.none(of=of, models=fitted)
    )
    if len(turned) > _NAMED:
        says += _SAYS.more(more=len(turned) - _NAMED)
    if any(model.drafted for model in models):
        says += _SAYS.drafted()
    return Finding(
        rule=RULE,
        verdict=Verdict.REVIEW if turned else Verdict.PASS,
        stage="utility",
        attempted=of,
        completed=of,
        binding=bool(turned),
        **as_fields(says + END()),
    )


def _in_words(model: str, term: str, turn: Turn) -> str:
    (said,) = _TURNS[turn](term=term, model=model)
    return said.text
