"""The catalogue of masking methods, written from their models: what a methodologist may put into a plan."""

import inspect
from typing import get_args

from pydantic.fields import FieldInfo

from sluice.ground.parameter_table import parameter_table, source_of
from sluice.masking import Step
from sluice.masking.step import MaskingStep


def methods() -> dict[str, type[MaskingStep]]:
    """Every masking method by the name it has in a plan."""
    return {str(model.model_fields["method"].default): model for model in get_args(Step)}


def catalogue() -> str:
    """All methods as Markdown: purpose, when to use it, what it preserves, known attack, parameters, example, source.

    The same models give the same text.
    """
    lines = ["# Masking methods", "", "Written by `sluice methods` from the models; do not edit.", ""]
    lines += [f"- [`{name}`](#{name}): {_first_line(model)}" for name, model in sorted(methods().items())]
    lines += [
        "",
        "The examples are steps of a plan for a survey of people; the sources are in [references.md](references.md).",
        "What an attack reaches was measured by `python -m benchmarks transparency`: found are people whose own record",
        "the intruder takes for theirs, surely found those of whom the intruder is rightly more than half sure.",
        "",
    ]
    lines += ["Fields that every method has, and so are not repeated below:", ""]
    lines += parameter_table({key: field for key, field in MaskingStep.model_fields.items() if key != "method"})
    for name, model in sorted(methods().items()):
        lines += ["", f"## `{name}`", "", inspect.getdoc(model) or "", ""]
        lines += [f"- **{title}**: {text}" for title, text in _about(model)]
        own = {key: field for key, field in model.model_fields.items() if _is_own(key, field)}
        if own:
            lines += ["", *parameter_table(own)]
        lines += ["", "```yaml", f"- {model.example}", "```", "", source_of(model)]
    return "\n".join(lines) + "\n"


def _first_line(model: type[MaskingStep]) -> str:
    return (inspect.getdoc(model) or "").splitlines()[0]


def _about(model: type[MaskingStep]) -> list[tuple[str, str]]:
    """What a methodologist wants to know of a method."""
    answers = [
        ("When to use it", model.use_when),
        ("Preserves", model.preserves),
        ("Known attack", model.known_attack),
        ("Played on every release", model.attack_measured),
        ("Missing values", model.missing_values),
        ("In an analysis", model.in_an_analysis),
    ]
    if model.is_recoding:
        answers.append(("Recoding", "equal values become equal values, and nothing is drawn at random."))
    refused = [
        name
        for name, taken in (
            ("strata", model.takes_strata),
            ("unit: household", model.takes_households or model.keeps_households),
        )
        if not taken
    ]
    return [*answers, ("Not for", ", ".join(f"`{name}`" for name in refused))] if refused else answers


def _is_own(key: str, field: FieldInfo) -> bool:
    """Whether the field is this method's, or means something else here than in other methods."""
    common = MaskingStep.model_fields.get(key)
    return common is None or field.description != common.description
