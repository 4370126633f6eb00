"""Explanation of a rule: what it is about, what it asks, what usually helps, and the source.

A rule of a policy and a part of the reference standard speak by their own docstrings, a limit on utility by its field,
a check under every policy by its advice.
"""

import inspect
import re
import sys
from dataclasses import dataclass

from policies.advice import ADVICE, RULES, UNMEASURED
from policies.standard.checks import PARTS
from policies.utility_limits import UtilityLimits
from sluice.ground.errors import SluiceError, did_you_mean
from sluice.ground.parameter_table import source_of


@dataclass(frozen=True)
class Explanation:
    """All in plain sentences; '' where nothing is known.

    about : what is measured, and why anybody asks; asks: when the rule holds; helps: what to do when it does not
    needs : what to do where it could not be measured; example: a line of a policy
    """

    rule: str
    about: str
    asks: str
    helps: str
    needs: str
    example: str
    source: str


def explain(rule: str) -> Explanation:
    """Of a rule by its name in a policy, a finding or a report, such as 'k_anonymity', 'k-anonymity', 'contract.kind'.

    raises : SluiceError for a name that nothing has, with the nearest
    """
    name = re.sub(r"[\s-]+", "_", rule.strip().lower())
    if name not in ADVICE and name not in UNMEASURED:
        name = name.partition(".")[0]
    if name in RULES:
        model = RULES[name]
        return Explanation(
            name,
            model.about or _first_paragraph(sys.modules[model.__module__].__doc__),
            _first_paragraph(inspect.getdoc(model)),
            model.advice,
            model.needs,
            model.example,
            source_of(model),
        )
    if name not in ADVICE and name not in UNMEASURED:
        raise SluiceError(
            f"RULE: no rule, measure or check is called '{rule}'.{did_you_mean(name, explained())} `sluice rules` "
            "lists those of a policy."
        )
    part = next((each for each in PARTS if name == each.rule), None)
    if part is not None:
        return Explanation(name, part.about, part.asks, part.helps, part.needs, part.example, part.source)
    limit = UtilityLimits.model_fields.get(name)
    return Explanation(
        name,
        "",
        f"Loss of information, as a {limit.description}, stays within the limit." if limit is not None else "",
        ADVICE.get(name, ""),
        UNMEASURED.get(name, ""),
        "",
        "",
    )


def explained() -> list[str]:
    """All names that can be explained, in order."""
    return sorted({*ADVICE, *UNMEASURED})


def explained_by_kind() -> dict[str, list[str]]:
    """The same by what they are, each kind in order."""
    of_standard = {part.rule for part in PARTS}
    rest, kinds = set(explained()), dict[str, list[str]]()
    for kind, names in (
        ("Rules of a policy", {*RULES}),
        ("Limits on the loss of information", {*UtilityLimits.model_fields}),
        ("Parts of the reference standard", of_standard),
        ("Checks under every policy", rest),
    ):
        kinds[kind] = sorted(names & rest)
        rest -= names
    return kinds


def _first_paragraph(document: str | None) -> str:
    return " ".join((document or "").partition("\n\n")[0].split())
