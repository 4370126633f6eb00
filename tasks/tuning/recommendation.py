"""The recommended plan as a release definition in YAML, with comments that say why each step is there."""

from collections.abc import Mapping, Sequence
from textwrap import wrap
from typing import Any

import yaml

from sluice.documents.documents import parse_document, yaml_mapping
from sluice.ground.errors import SluiceError
from tasks.release.records.definition import RecordsDefinition
from tasks.tuning.confirmation import Judgement
from tasks.tuning.explanation import Reason, Unchosen

_WIDTH = 110
_OF_SPACE = ("plan", "may_drop", "dropped_at_first", "search")


class _Plain(yaml.SafeDumper):
    """Writes every alias out: a document of ours has none."""

    def ignore_aliases(self, data: Any) -> bool:
        return True


def recommended_yaml(
    written: Mapping[str, Any],
    steps: Sequence[Mapping[str, Any]],
    definition: RecordsDefinition,
    reasons: Sequence[Reason],
    unchosen: Sequence[Unchosen],
    judgements: Sequence[Judgement],
    loss: float,
    head: Sequence[str],
) -> str:
    """The definition, ready to be checked and released.

    written    : the document that the search was given, whose other fields stay as they are
    steps      : the plan as it would be written; definition holds it as a model
    judgements : with fresh seeds, which the plan passed
    loss       : of the plan in the search
    head       : lines of the comment at the top
    raises     : SluiceError where the text, read as a document, is another definition than the one that was judged
    """
    lines = [line for text in head for line in _comment(text)]
    before = {key: value for key, value in written.items() if key not in _OF_SPACE}
    last = ("target", "schedule", "trigger")
    after: dict[str, Any] = {key: before.pop(key) for key in last if key in before}
    lines += [_yaml(before).rstrip(), "plan:"]
    for index, step in enumerate(steps):
        lines += _comment(definition.plan[index].describe(), "  ")
        lines += [line for each in reasons if each.step == index for line in _comment(each.in_words(loss), "  ")]
        body = yaml.dump(
            _as_plain(step), Dumper=_Plain, sort_keys=False, default_flow_style=None, allow_unicode=True, width=_WIDTH
        )
        first, *rest = body.rstrip().splitlines()
        lines += [f"  - {first}", *(f"    {line}" for line in rest)]
    lines.append(_yaml(after).rstrip())
    if judgements:
        on = ", ".join(f"{each.on} ({each.records:,})" for each in judgements)
        lines += _comment(f"Passed with seeds that the search did not use, on {on}.")
    if unchosen:
        lines += _comment("What else was tried:")
        lines += [line for each in unchosen for line in _comment(f"- {each.in_words()}")]
    text = "\n".join(line for line in lines if line) + "\n"
    _refuse_another(text, written, definition)
    return text


def plan_yaml(steps: Sequence[Mapping[str, Any]], definition: RecordsDefinition) -> str:
    """A plan alone, as it stands in a definition, which holds it as a model. Raises SluiceError as above."""
    text = _yaml({"plan": list(steps)})
    _refuse_another(text, {}, definition)
    return text


def _refuse_another(text: str, written: Mapping[str, Any], definition: RecordsDefinition) -> None:
    """Raise SluiceError for a text that, read again, does not give the definition's plan and the fields as written."""
    name = "the plan as it would be written"
    read = yaml_mapping(text, name)
    content = definition.model_dump(mode="json", exclude={"plan"}, exclude_none=True) | {"plan": read.pop("plan", None)}
    again = parse_document(RecordsDefinition, content, name)
    kept = {key: value for key, value in written.items() if key not in _OF_SPACE}
    if again.plan != definition.plan or _as_plain(read) != _as_plain(kept):
        raise SluiceError(f"{name} is another one when it is read again, so nothing is written. Please report this.")


def _yaml(content: Mapping[str, Any]) -> str:
    if not content:
        return ""
    return yaml.dump(_as_plain(content), Dumper=_Plain, sort_keys=False, allow_unicode=True, width=_WIDTH)


def _as_plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(key): _as_plain(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [_as_plain(part) for part in value]
    return value if isinstance(value, str | int | float | bool | None) else str(value)


def _comment(text: str, indent: str = "") -> list[str]:
    return [f"{indent}# {line}" for line in wrap(" ".join(text.split()), _WIDTH)]
