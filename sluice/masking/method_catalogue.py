"""The catalogue of masking methods, written from their models: what a methodologist may put into a plan."""

import inspect
from collections.abc import Iterable, Iterator
from functools import cache
from typing import get_args

from pydantic.fields import FieldInfo

from sluice.ground.errors import SluiceError, did_you_mean
from sluice.ground.parameter_list import first_sentence, parameter_list, source_of, told_once
from sluice.masking import Step
from sluice.masking.masking_step import MaskingStep

_ABOUT = (
    "The examples are steps of a plan for a survey of people. `sluice docs methods NAME` prints all about a method:",
    "how data users correct for it, missing values, its measured attack, its source, and how it differs from that.",
    "The methods are compared in [leaks.md](leaks.md).",
    "A parameter's default is in parentheses; one without may be left out.",
)


def methods() -> dict[str, type[MaskingStep]]:
    """Every masking method by the name it has in a plan."""
    return {str(model.model_fields["method"].default): model for model in get_args(Step)}


@cache
def catalogue() -> str:
    """All methods as Markdown, each in brief: purpose, use, what it preserves, attack, parameters, example.

    The same models give the same text. `in_full` says of one method what is left out here.
    """
    models = dict(sorted(methods().items()))
    shared = _shared(models.values())
    lines = ["# Masking methods", "", "Written by `sluice docs methods` from the models; do not edit.", "", *_ABOUT, ""]
    lines += ["Parameters of all methods, and of several:", "", *parameter_list(_common() | shared, first_sentence)]
    for name, own, also in told_once({name: _own(model) for name, model in models.items()}, shared):
        model = models[name]
        lines += ["", f"## `{name}`", "", _first_line(model), ""]
        lines += [f"- **{title}**: {text}" for title, text in _in_brief(model)]
        lines += ["", "```yaml", f"- {model.example}", "```"]
        lines += ["", *parameter_list(own, first_sentence)] if own else []
        lines += ["", f"Also takes {also}."] if also else []
    return "\n".join(lines) + "\n"


def in_full(name: str) -> str:
    """All that is known of a method, as Markdown: with every parameter, measured attack and difference from its source.

    raises : SluiceError for a name that no method has, with the nearest
    """
    model = methods().get(name)
    if model is None:
        raise SluiceError(f"METHOD: no masking method is called '{name}'.{did_you_mean(name, methods())}")
    lines = [f"# `{name}`", "", inspect.getdoc(model) or "", ""]
    lines += [f"- **{title}**: {text}" for title, text in _about(model)]
    lines += [
        "",
        "Parameters:",
        "",
        *parameter_list(_common() | _own(model)),
        "",
        "```yaml",
        f"- {model.example}",
        "```",
        "",
    ]
    return "\n".join([*lines, source_of(model)]) + "\n"


def _common() -> dict[str, FieldInfo]:
    return {key: field for key, field in MaskingStep.model_fields.items() if key != "method"}


def _own(model: type[MaskingStep]) -> dict[str, FieldInfo]:
    return {key: field for key, field in model.model_fields.items() if _is_own(key, field)}


def _shared(models: Iterable[type[MaskingStep]]) -> dict[str, FieldInfo]:
    """The parameters that mean the same in three methods or more."""
    fields = [(key, field) for model in models for key, field in _own(model).items()]
    return {key: field for key, field in fields if sum(each == key and _same(field, of) for each, of in fields) >= 3}


def _same(one: FieldInfo | None, other: FieldInfo) -> bool:
    return one is not None and (one.description, one.default) == (other.description, other.default)


def _in_brief(model: type[MaskingStep]) -> Iterator[tuple[str, str]]:
    """What a page of all methods says of one."""
    for title, text in _about(model):
        if title in ("Use", "Not for"):
            yield title, text
        elif title in ("Preserves", "Known attack"):
            yield title, first_sentence(text)


def _first_line(model: type[MaskingStep]) -> str:
    return (inspect.getdoc(model) or "").splitlines()[0]


def _about(model: type[MaskingStep]) -> list[tuple[str, str]]:
    """What a methodologist wants to know of a method."""
    answers = [
        ("Use", model.use_when),
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
