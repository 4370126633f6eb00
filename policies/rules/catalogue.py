"""The catalogue of rules, written from their models: what a methodologist may put into a policy."""

import inspect
from collections import Counter
from typing import Any, get_args

from pydantic.fields import FieldInfo

from policies.rules.rules import AttackPolicyRule, PolicyRule
from sluice.ground.parameter_table import cited, first_sentence, parameter_table, source_of, told_once
from sluice.ground.rule import DisclosureRule

_HEADS = (
    (PolicyRule, "Rules on one file", "Under `rules` of a policy; they look at the masked file by itself.", "rules"),
    (
        AttackPolicyRule,
        "Attacks",
        "Under `attacks` of a policy; an intruder with the original records is played against the masked file. Each "
        "has `limit`, the worst figure allowed, or `excess`, how much worse than its baseline it may be, or both. It "
        "passes if the whole confidence interval is within them, fails if none of it is, and otherwise needs a "
        "decision. An attack that could not be played, or does worse than guessing, is `UNKNOWN`, which blocks.",
        "attacks",
    ),
)


def rules(union: Any) -> dict[str, type[DisclosureRule]]:
    """The rules of a union by their names."""
    return {str(model.model_fields["rule"].default): model for model in get_args(get_args(union)[0])}


_ELSEWHERE = (
    "A report names more than these: `learned_linkage`, `attribute_gain`, `transparency`, `unique_values` and the",
    "other parts of the [reference standard](reference-standard.md), and what is looked at under every policy, such as",
    "`sentinels`, `few_changes` and `differencing` ([documents.md](documents.md)). `sluice explain NAME` says what",
    "a rule asks and why, what usually helps, and how it differs from its source.",
)


def catalogue() -> str:
    """All rules as Markdown, in brief: what each asks, parameters, source. `sluice explain` says more.

    The same models give the same text.
    """
    families = [(title, about, part, dict(sorted(rules(union).items()))) for union, title, about, part in _HEADS]
    shared = _shared([model for *_, models in families for model in models.values()])
    lines = ["# Rules", "", "Written by `sluice rules` from the models; do not edit.", "", *_ELSEWHERE, ""]
    lines += ["Parameters that several take:", "", *parameter_table(shared), ""]
    for title, about, part, models in families:
        lines += [f"## {title}", "", about, ""]
        for name, own, also in told_once({name: _own(model) for name, model in models.items()}, shared):
            model = models[name]
            lines += [f"### `{name}`", "", (inspect.getdoc(model) or "").split("\n\n")[0], ""]
            lines += ["```yaml", f"{part}:", f"  - {model.example}", "```", ""]
            lines += [*parameter_table(own, first_sentence), ""] if own else []
            lines += [f"Also takes {also}.", ""] if also else []
            lines += [f"Source: {'; '.join(cited(source_of(model)))}.", ""]
    return "\n".join(lines).rstrip() + "\n"


def _shared(models: list[type[DisclosureRule]]) -> dict[str, FieldInfo]:
    """The parameters that mean the same in four rules or more, and nothing else in as many; or the same in ten."""
    fields = [(key, field) for model in models for key, field in _own(model).items()]
    counted = Counter((key, field.description) for key, field in fields)
    often = Counter(key for key, _ in (each for each, times in counted.items() if times >= 4))
    least = {key: 4 if meanings == 1 else 10 for key, meanings in often.items()}
    return {key: field for key, field in fields if key in least and counted[key, field.description] >= least[key]}


def _own(model: type[DisclosureRule]) -> dict[str, FieldInfo]:
    return {key: field for key, field in model.model_fields.items() if key != "rule"}
