"""The catalogue of masking methods, written from their models: what a methodologist may put into a plan."""

import inspect
from typing import get_args

from pydantic.fields import FieldInfo

from sluice.masking import Step
from sluice.masking.step import MaskingStep


def methods() -> dict[str, type[MaskingStep]]:
    """Every masking method by the name it has in a plan."""
    return {str(model.model_fields["method"].default): model for model in get_args(Step)}


def catalogue() -> str:
    """All methods as Markdown: purpose, parameters with their bounds, source. The same models give the same text."""
    lines = ["# Masking methods", "", "Written by `sluice methods` from the models; do not edit.", ""]
    for name, model in sorted(methods().items()):
        lines += [f"## `{name}`", "", inspect.getdoc(model) or "", ""]
        if model.is_recoding:
            lines += ["A recoding: equal values become equal values, and nothing is drawn at random.", ""]
        lines += ["| parameter | default | meaning |", "|---|---|---|"]
        lines += [_row(key, field) for key, field in model.model_fields.items() if key != "method"]
        lines += ["", _source(model), ""]
    return "\n".join(lines)


def _row(name: str, field: FieldInfo) -> str:
    default = "required" if field.is_required() else f"`{field.get_default(call_default_factory=True)}`"
    return f"| `{name}` | {default} | {field.description or ''} |"


def _source(model: type[MaskingStep]) -> str:
    """The paragraph of the module's docstring that says where the method comes from."""
    module = inspect.getmodule(model)
    paragraphs = (inspect.getdoc(module) or "").split("\n\n")
    return next((" ".join(p.split()) for p in paragraphs if p.startswith("Source")), "")
