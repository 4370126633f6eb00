"""The catalogue of rules, written from their models: what a methodologist may put into a policy."""

import inspect
from typing import Any, get_args

from pydantic import BaseModel

from policies.rules.rule import DisclosureRule
from policies.rules.rules import AttackPolicyRule, PolicyRule
from sluice.ground.parameter_table import parameter_table, source_of

_HEADS = (
    (PolicyRule, "Rules on one file", "Under `rules` of a policy; they look at the masked file by itself.", "rules"),
    (
        AttackPolicyRule,
        "Attacks",
        "Under `attacks` of a policy; an intruder with the original records is played against the masked file. Each "
        "has `limit`, the worst figure allowed, or `excess`, how much worse than its baseline it may be, or both. It "
        "passes when the whole confidence interval keeps them, fails when none of it does, and needs a decision "
        "between. An attack that could not be played, or does worse than guessing, is `UNKNOWN`, which blocks.",
        "attacks",
    ),
)


def rules(union: Any) -> dict[str, type[DisclosureRule]]:
    """The rules of a union by their names."""
    return {str(model.model_fields["rule"].default): model for model in get_args(get_args(union)[0])}


_ELSEWHERE = (
    "A report names more than these: `learned_linkage`, `attribute_gain`, `transparency`, `unique_values` and the",
    "other parts of the [reference standard](reference-standard.md), and what is looked at under every policy, such as",
    "`sentinels`, `few_changes` and `differencing` ([documents.md](documents.md)).",
)


def catalogue() -> str:
    """All rules as Markdown: what each asks, parameters with bounds, source. The same models give the same text."""
    lines = ["# Rules", "", "Written by `sluice rules` from the models; do not edit.", "", *_ELSEWHERE, ""]
    for union, title, about, _ in _HEADS:
        lines += [f"## {title}", "", about, ""]
        lines += [f"- [`{name}`](#{name}): {_first_line(model)}" for name, model in sorted(rules(union).items())]
        lines += [""]
    for union, _, _, part in _HEADS:
        for name, model in sorted(rules(union).items()):
            fields = {key: field for key, field in model.model_fields.items() if key != "rule"}
            lines += [f"### `{name}`", "", inspect.getdoc(model) or "", ""]
            lines += ["```yaml", f"{part}:", f"  - {model.example}", "```", ""]
            if fields:
                lines += [*parameter_table(fields), ""]
            lines += [f"When it is broken: {model.advice}", "", source_of(model), ""]
    return "\n".join(lines).rstrip() + "\n"


def _first_line(model: type[BaseModel]) -> str:
    return (inspect.getdoc(model) or "").splitlines()[0]
