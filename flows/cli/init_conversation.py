"""What `sluice init` shows of a table, and asks: never a value that fewer records have than the minimum cell."""

from collections.abc import Mapping
from dataclasses import replace
from math import isfinite
from typing import TYPE_CHECKING

from rich.table import Table
from rich.text import Text

from flows.cli.terminal import out, say
from sluice.ground.errors import SluiceError
from sluice.ground.variables import Kind, Role, as_label
from sluice.ground.visible_text import one_line

if TYPE_CHECKING:
    from schemas.reading.column_proposal import Proposal
    from schemas.reading.overview import Overview
    from schemas.reading.proposal import Proposals
    from tasks.tuning.audiences import Use
    from tasks.tuning.first_plan import FirstPlan
    from tasks.tuning.regressions_kept import AnalysesLoss

ROLES = {
    "i": Role.IDENTIFIER,
    "q": Role.QUASI_IDENTIFIER,
    "s": Role.SENSITIVE,
    "w": Role.WEIGHT,
    "p": Role.PERSON,
    "h": Role.HOUSEHOLD,
    "o": Role.OTHER,
}
"""Key -> role."""

_FEW_MAKE = 100  # records: a coefficient of so few is worth a word
_SHOWN = 4  # categories by name
_WIDEST = 24  # characters of one


def show_columns(seen: "Overview", proposed: "Proposals") -> None:
    """A line for each column, and which few quasi-identifiers single out most people.

    A ? stands where a role is less certain, and behind codes that may stand for missing.
    """
    from schemas.reading.proposal import in_words, share, worst_sets

    table = Table(box=None, pad_edge=False)
    for head in ("column", "kind", "values", "missing", "proposed role"):
        table.add_column(head, overflow="fold", no_wrap=head == "proposed role")
    for each in proposed.columns:
        role = f"{each.role}" if each.sure else f"{each.role} ?"
        missing = share(seen.missing_share(each.name), seen.kept)
        if asked := [*each.doubtful_codes, *seen.said(each.name).guessed_missing]:
            missing += f"; {', '.join(asked)} ?"
        cells = (one_line(each.name), str(each.kind), _values(seen, each), missing, role)
        table.add_row(*map(Text, cells))
    out.print(table)
    names = [each.name for each in proposed.columns if each.role is Role.QUASI_IDENTIFIER]
    for found in worst_sets(seen, names):
        say(in_words(found, names, seen.kept))
    for each in proposed.columns:
        if told := _sets_of_items(seen, each):
            say(told)
        if each.universe:
            say(f"{one_line(each.name)}: {each.universe}; elsewhere it is not asked, and not missing")
        if each.harmless:
            say(
                f"{one_line(each.name)}: {_denial(each)} counts as harmless; the data's owner has to confirm it",
                "yellow",
            )
        if each.repeats:
            say(f"{one_line(each.name)} tells the same as {one_line(each.repeats)}")
    say_other_forms(proposed)
    if proposed.record_key:
        say(f"record key: {', '.join(map(one_line, proposed.record_key))}")


def say_other_forms(proposed: "Proposals") -> None:
    """Which columns hold numbers or dates that are not read as such."""
    from schemas.reading.other_forms import SAYS

    for each in proposed.columns:
        if each.other_form:
            holds = SAYS[each.other_form]
            if each.first_other:
                holds = f"{each.other_form} but for few values, the first in record {each.first_other:,}: correct these"
            say(f"{one_line(each.name)} holds {holds}, and run this again", "yellow")


def _denial(each: "Proposal") -> str:
    """The value that is drafted as harmless, in words."""
    return f"that it is {_short(each.harmless, each.labels.get(each.harmless, ''))}"


def _sets_of_items(seen: "Overview", each: "Proposal") -> str:
    """What to write where a column holds sets, or may; '' where it does not. No shipped policy judges sets."""
    name, separator = one_line(each.name), seen.columns[each.name].separator
    if each.kind is Kind.ITEMS:
        return f"{name} holds sets of items: write policy and plan by docs/sets-of-items.md"
    if separator and not each.other_form and each.kind in (Kind.TEXT, Kind.NOMINAL):
        return (
            f"{name} may hold several values in a cell, with {separator!r} between them: a set, such as a basket. Then "
            f"write kind: items, separator: {separator!r} into the contract, and policy and plan by "
            "docs/sets-of-items.md"
        )
    return ""


def _values(seen: "Overview", each: "Proposal") -> str:
    """How many there are and the frequent ones by name, or a rounded range."""
    from schemas.reading.column_proposal import MINIMUM_CELL
    from schemas.reading.contract_draft import declared

    column = seen.columns[each.name]
    if not column.known:
        return "none"
    if each.role in (Role.IDENTIFIER, Role.PERSON, Role.HOUSEHOLD):
        return "names of people or records"
    span = declared(each, column)
    if span.minimum is not None and span.maximum is not None:
        ends = (as_label(end) for end in (span.minimum, span.maximum))
        return " to ".join(ends)
    if each.kind.is_numeric or each.kind in (Kind.DATE, Kind.TEXT, Kind.ITEMS):
        return "many different"
    often = [label for label, times in column.categories.items() if times >= MINIMUM_CELL]
    often = sorted(
        (label for label in often if label not in each.missing_codes), key=lambda label: -column.categories[label]
    )
    if not often:
        return "many, all rare"
    parts = [_short(label, each.labels.get(label, "")) for label in often[:_SHOWN]]
    parts += [f"{more} more"] if (more := len(often) - _SHOWN) > 0 else []
    known = {label: times for label, times in column.categories.items() if label not in each.missing_codes}
    parts += ["rarer ones"] if any(times < MINIMUM_CELL for times in known.values()) else []
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"


def _short(label: str, means: str) -> str:
    """A category, with what the file says that it means."""
    text = one_line(f"{label} ({means})" if means else label)
    return text if len(text) <= _WIDEST else text[: _WIDEST - 1] + "…"


def ask_use(uses: Mapping[str, "Use"]) -> str | None:
    """For whom the file is; None for whatever anybody may have and keeps most."""
    say("Who gets the file? Enter for anybody, by the policy under which most is kept; else")
    names = list(uses)
    for number, use in enumerate(uses.values(), start=1):
        say(f"  {number}  {use.whom} ({use.policy})")
    while True:
        answer = _answer(f"1 to {len(names)}, or Enter: ")
        if not answer:
            return None
        if answer in names:
            return answer
        if answer in map(str, range(1, len(names) + 1)):
            return names[int(answer) - 1]
        say(f"  a number from 1 to {len(names)}, please")


def show_plans(plans: Mapping[str, "FirstPlan"]) -> None:
    """The best draft of each use: for whom, whether it passes, what it keeps; and why a better one fell."""
    from tasks.tuning.audiences import USES

    if not any(plan.outcome for plan in plans.values()):
        return
    for use, plan in plans.items():
        whom = "researchers" if USES[use].researchers else "anybody"
        for tried in (plan.as_tried, plan.fell):
            if tried is None:
                continue
            outcome = tried.outcome
            fell = ", ".join(dict.fromkeys(miss.rule for miss in outcome.misses))
            say(f"for {whom}, {USES[use].policy}: {'passes' if tried.passes else f'does not meet {fell}'}")
            say(f"  {tried.draft.says}")
            kept = [] if outcome.kept is None else [f"keeps {outcome.kept} of {outcome.of} variables"]
            lost = outcome.among if isfinite(outcome.among) else outcome.loss  # `loss` counts those left out, too
            kept += [f"{100 * (1 - lost):.0f} % of their detail"] if isfinite(lost) else []
            if kept := [*kept, *_regressions(outcome.models)]:
                say(f"  {', '.join(kept)}")
            if most := _most_moved(outcome.models):
                say(most)


def _regressions(found: "AnalysesLoss | None") -> list[str]:
    """Of how many every coefficient is within HOLDS standard errors, and the largest change of one."""
    if found is None or not found.of:
        return []
    most = f"{found.worst:.1f}" if found.worst <= 100 else "over 100"  # of what hardly varied before
    worst = f" (worst change {most} standard errors)" if isfinite(found.worst) else ""
    coefficients = "coefficient" if found.lost == 1 else "coefficients"
    lost = [f"{found.lost} {coefficients} lost"] if found.lost else []
    return [f"{found.holds} of {found.of} regressions{worst}", *lost]


def _most_moved(found: "AnalysesLoss | None") -> str:
    """The coefficient that moved most where one does not hold, and by how many records it is made where these are few:
    no file that protects them keeps it closely."""
    from sluice.utility.analyses.models import HOLDS

    if found is None or not found.where or found.worst <= HOLDS:
        return ""
    few = f", which rests on about {float(f'{found.behind:.1g}'):.0f} records" if found.behind < _FEW_MAKE else ""
    return f"  moved most: {one_line(found.where)}{few}"


def ask_about_columns(seen: "Overview", proposed: "Proposals") -> "Proposals":
    """What names and values leave open: the role, and numbers that may stand for missing. Enter takes the proposal."""
    from schemas.reading.proposal import coherent, with_role

    keys = ", ".join(f"{key} {role}" for key, role in ROLES.items())
    columns = {each.name: each for each in proposed.columns}
    unsure = [each for each in proposed.columns if not each.sure]
    if unsure:
        roles = "1 role is" if len(unsure) == 1 else f"{len(unsure)} roles are"
        say(f"{roles} less certain. Enter takes the proposal, a takes all that are left; else {keys}.")
    for each in unsure:
        answer = _role_of(each)
        if answer is None:
            break
        why = each.why if answer is each.role else "chosen by a person"
        columns[each.name] = with_role(seen, each, answer, why)
    for each in proposed.columns:
        for code in each.doubtful_codes:
            if _answer(f"{one_line(each.name)}: does {code} stand for missing? y or Enter for no: ").lower() == "y":
                known = columns[each.name]
                codes = (*known.missing_codes, code)
                columns[each.name] = replace(known, missing_codes=codes, doubtful_codes=())
    for name, each in columns.items():
        if each.harmless:
            question = f"{one_line(name)}: may everybody know {_denial(each)}? n, or Enter for yes: "
            if _answer(question).lower() == "n":
                columns[name] = replace(each, harmless="")
    for each in proposed.columns:
        for other in each.date_formats[1:]:
            question = f"{one_line(each.name)}: are its dates written {other}? y, or Enter for {each.date_formats[0]}: "
            if _answer(question).lower() == "y":
                columns[each.name] = replace(columns[each.name], date_formats=(other,))
                break
    while name := _answer("Another column to change? Its name, or Enter to go on: "):
        if name not in columns:
            say("  there is no such column")
            continue
        if answer := _role_of(columns[name]):
            columns[name] = with_role(seen, columns[name], answer, "chosen by a person")
    return coherent(replace(proposed, columns=tuple(columns.values())))


def _role_of(each: "Proposal") -> Role | None:
    """The role that is chosen; None where all proposals that are left are taken."""
    while True:
        answer = _answer(f"{one_line(each.name)}: {each.role} ({one_line(each.why)}): ").lower()
        if answer == "a":
            return None
        if not answer:
            return each.role
        if answer in ROLES:
            return ROLES[answer]
        if answer in tuple(Role):
            return Role(answer)
        say(f"  one of {', '.join(ROLES)}, a, or Enter, please")


def _answer(question: str) -> str:
    """A line that somebody types. Raises SluiceError where nobody does."""
    try:
        return out.input(Text(question)).strip()
    except EOFError:
        out.print()
        raise SluiceError(
            "no answer came, and nothing was written. Without a terminal: --yes takes every proposal"
        ) from None
