"""Declaration: what a check says of itself, in one place, beside the code that makes its findings.

The list of names, the explanation of a finding, the advice on it and the names that a waiver may speak of are read from
it. A rule of a policy declares the same by its class, a measure of utility by its `Measure`.
"""

import re
from dataclasses import dataclass


@dataclass(frozen=True)
class Declaration:
    """All in plain sentences; '' where nothing is known.

    rule     : its name in a policy, a finding or a report, such as 'k_anonymity' or 'contract.kind'
    about    : what is measured, and why anybody asks
    asks     : when the rule holds
    helps    : what to do when it does not
    needs    : what to do where it could not be measured; '': why it could not is in the finding
    example  : a line of a policy
    source   : where it comes from
    waivable : whether a waiver may speak of it whatever the policy says
    """

    rule: str
    about: str = ""
    asks: str = ""
    helps: str = ""
    needs: str = ""
    example: str = ""
    source: str = ""
    waivable: bool = False


def first_paragraph(document: str | None) -> str:
    return " ".join((document or "").partition("\n\n")[0].split())


def as_written(name: str) -> str:
    """A rule's name from what people write: 'k-anonymity' and 'K anonymity' are 'k_anonymity'."""
    return re.sub(r"[\s-]+", "_", name.strip().lower())
