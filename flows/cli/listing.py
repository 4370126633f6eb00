"""How commands show releases on a screen of 80 columns: one under review, one's history, all of them.

Paths, hashes and ids are never broken nor cut off: they are there to be copied.
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from sluice.custody.ledger_entry import Entry
from sluice.custody.states import FINDING_DECIDED, State
from sluice.ground.verdict import URGENCY, Finding, Verdict
from sluice.ground.visible_text import one_line

if TYPE_CHECKING:
    from flows.history import History
    from sluice.report.dossier import Dossier
    from sluice.report.first_screen import FirstScreen

# Why they could be published is no news any more.
_NO_LONGER_NEWS = (State.PUBLISHED, State.SUPERSEDED, State.OVERTAKEN, State.WITHDRAWN)


def show_dossier(screen: Console, first: "FirstScreen", facts: Mapping[str, Any], dossier: "Dossier") -> None:
    """What a reviewer needs before the report: the first screen, then the facts, what was done to the data, and every
    finding, worst first."""
    from sluice.report.headline import next_steps

    _show_first_screen(screen, first)
    _show_facts(screen, facts)
    if dossier.reading:
        screen.print("\nWhat was not read as it stands", style="bold")
        _show_pairs(screen, [("-", f"{remark.says}.") for remark in dossier.reading])
    screen.print("\nWhat was done to the data", style="bold")
    _show_pairs(screen, [(f"{number}.", sentence) for number, sentence in enumerate(dossier.plan, start=1)])
    screen.print("\nWhat was found", style="bold")
    rows = [row for finding in sorted(dossier.findings, key=_urgency) for row in _finding_rows(finding)]
    _show_pairs(screen, rows)
    screen.print("\nWhat to do now", style="bold")
    _show_pairs(screen, [("-", step) for step in next_steps(dossier)])


def _show_first_screen(screen: Console, first: "FirstScreen") -> None:
    screen.print(Text(f"Internal: {one_line(first.title)}", style="bold"), soft_wrap=True)
    screen.print(Text(f"{first.verdict}. {first.asked.says} {first.asked.until}".strip()), soft_wrap=True)
    for command in first.asked.commands:
        screen.print(Text(f"  {command}"), soft_wrap=True)
    for tile in first.tiles:
        screen.print(Text(f"\n{tile.title}", style="bold"))
        for says in tile.says:
            screen.print(Text(f"  {says}"), soft_wrap=True)
        for row in tile.intruders:
            screen.print(Text(f"  {row.name:>20}  {row.of_limit}"))
        for bar in tile.bars:
            screen.print(Text(f"  {bar.says:>28}  {bar.figure}"))
    if first.questions:
        screen.print("\nAsk this", style="bold")
        _show_pairs(screen, [("-", says) for says in first.questions])
    screen.print()


def show_history(screen: Console, found: "History") -> None:
    """Who did what, when, and on which documents."""
    title = f": {one_line(found.title)}" if found.title else ""
    stands = found.state.stands if found.state else "is nothing"
    screen.print(f"{found.release} {stands}{title}", style="bold", soft_wrap=True)
    events = Table("", "time (UTC)", "event", "by, and what was said", box=None, padding=(0, 2, 0, 0))
    for entry in found.entries:
        events.add_row(str(entry.seq), entry.at[:19].replace("T", " "), _words(entry.event), Text(_account_of(entry)))
    screen.print(events)
    if found.files:
        screen.print("\nThe files that are meant: the name of each is its SHA-256", style="bold")
        _show_facts(screen, found.files)
    if found.subject:
        screen.print("\nAn approval is given to all of these together, by the digest", style="bold")
        screen.print(f"  {found.subject.digest()}", soft_wrap=True)


def show_releases(screen: Console, rows: Sequence[Mapping[str, Any]]) -> None:
    """Where each release stands, and below it why, as far as the line goes."""
    width = max(len(row["release"]) for row in rows)
    for row in rows:
        event = "" if row["last_event"] == row["state"] else f"  ({_words(row['last_event'])})"
        when = row["at"][:16].replace("T", " ") + event
        screen.print(f"{row['release']:<{width}}  {_words(str(row['state'])):<15}  {when}", soft_wrap=True)
        if row["says"] and row["state"] not in _NO_LONGER_NEWS:
            screen.print(Text(f"    {row['says']}", style="dim"), no_wrap=True, overflow="ellipsis")


def show_holdings(screen: Console, rows: Sequence[Mapping[str, Any]]) -> None:
    """What each release has in the vault, a line for each part."""
    before = ""
    for row in rows:
        if row["release"] != before:
            screen.print(one_line(f"{row['release']}  {_words(row['state'] or '')}"), soft_wrap=True)
        gone = f"deleted {row['deleted']}" if row["deleted"] and not row["objects"] else ""
        size = "" if row["part"] == "seeds" else f"{row['size'] / 1e6:,.1f} MB"
        until = gone or (f"until {row['until']}, " if row["until"] else "") + row["says"]
        shared = f"; shared with {', '.join(row['shared_with'])}" if row["shared_with"] else ""
        line = f"    {_words(row['part']):12}  {size:>10}  {until if gone else f'kept {until}'}{shared}"
        screen.print(one_line(line), soft_wrap=True)
        before = row["release"]


def _show_facts(screen: Console, facts: Mapping[str, Any]) -> None:
    width = max(map(len, facts))
    for name, value in facts.items():
        screen.print(one_line(f"{_words(name):>{width}}  {value}"), soft_wrap=True)


def _show_pairs(screen: Console, pairs: Sequence[tuple[str, str]]) -> None:
    table = Table(box=None, padding=(0, 2, 0, 0), show_header=False)
    for first, second in pairs:
        table.add_row(first, Text(second))
    screen.print(table)


def _finding_rows(finding: Finding) -> list[tuple[str, str]]:
    """Whether it decides, what it says, and through which variables it is so."""
    return [_finding_row(finding), *(("", f"- {each}") for each in finding.where)]


def _finding_row(finding: Finding) -> tuple[str, str]:
    about = ", ".join(filter(None, (finding.stage, finding.rule)))
    says = f"{about}: {finding.says}" + (f" Waived by {finding.waiver}" if finding.waiver else "")
    says += f" Accepted by {finding.accepted.says}" if finding.accepted else ""
    if not finding.binding:
        return "(reported)", says
    word = "needs a decision" if finding.verdict is Verdict.REVIEW else finding.verdict.name
    if not finding.excused:
        return word, says
    return f"{word}, {'waived' if finding.waiver else 'accepted'}", says


def _urgency(finding: Finding) -> tuple[bool, int]:
    """What decides before what is only reported, what fails first; else as they came."""
    return not finding.binding, URGENCY.index(finding.verdict)


def _words(name: str) -> str:
    return State(name).words if name in set(State) else str(name).replace("_", " ")


def _account_of(entry: Entry) -> str:
    """Who acted, how that is known where it is not by the account, and the words that were given."""
    body, who = entry.body, entry.actor
    if body.get("identity") == "declared":
        who += f" (a name given; account {body['account']})"
    if entry.event == State.EVALUATED:
        words = f"verdict {body['verdict']}"
    elif entry.event == FINDING_DECIDED:
        words = f"{_words(body['decision'])} {body['code']}: {body['comment']}"
    elif "error" in body:
        words = f"{body.get('step')} failed with {body['error']}"
    else:
        words = body.get("comment") or body.get("reason") or body.get("says") or ""
    return f"{who}: {words}" if words else who
