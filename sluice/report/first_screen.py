"""The first screen: all that a reviewer needs within two minutes, as plain data.

Report, desk, `sluice review` and its JSON show it; a mail says what is asked (`sluice.report.asked`), and nothing of
the data. At most MOST_WORDS words: long sentences are cut.
"""

from collections.abc import Mapping, Sequence
from typing import Annotated

from pydantic import AfterValidator, Field

from sluice.ground.document_parts import FrozenModel
from sluice.ground.verdict import Finding, Verdict
from sluice.ground.visible_text import one_line
from sluice.report.asked import WhatIsAsked, approvals_asked, findings_asked, nothing_asked, of_verdict
from sluice.report.dossier import Dossier, RecordsView, TablesView, Treatment
from sluice.report.headline import lead, most_telling, reasons, shown, waived
from sluice.report.intruder_dots import Intruder, best_intruder, intruders, people_of
from sluice.report.table_summary import TableSummary
from sluice.report.wording import VERDICT_WORDS, brief, in_short, percent, quoted, rule_words
from sluice.report.worth import Bar, bars, good_for

MOST_WORDS = 160
_MOST_NAMED = 2
_LEFT_OUT, _MOST_LEFT_OUT = "left out", 3
_SHORTEST = 8  # words to which a sentence is cut
_REASON, _CAUSE, _CHANGE, _TITLE = 38, 22, 30, 14  # words at most
_QUOTED = (_REASON, _REASON // _MOST_NAMED)  # of a finding, alone and beside another

_Line = Annotated[str, AfterValidator(one_line)]


class Tile(FrozenModel):
    """A heading, sentences below it, and a picture where there is one."""

    title: str
    says: tuple[_Line, ...] = ()
    intruders: tuple[Intruder, ...] = Field(default=(), description="drawn as a dot plot")
    bars: tuple[Bar, ...] = Field(default=(), description="drawn as bars")
    grid: bool = Field(default=False, description="whether the grid of the first table belongs here")


class FirstScreen(FrozenModel):
    """What is asked, three tiles, and what to ask about."""

    release: str
    title: _Line
    verdict: str = Field(description="in words, such as 'Meets the policy'")
    style: str = Field(description="pass, review, fail or unknown")
    asked: WhatIsAsked
    tiles: tuple[Tile, ...]
    questions: tuple[_Line, ...] = Field(default=(), description="what a reviewer should ask about")
    leads_to: tuple[str, ...] = Field(default=(), description="ids of earlier releases that the questions name")

    @property
    def lines(self) -> list[str]:
        """All of it as text, in order."""
        found = [self.title, self.verdict, self.asked.says, self.asked.until, *self.asked.commands]
        for tile in self.tiles:
            found += [tile.title, *tile.says, *(bar.says for bar in tile.bars), *(row.name for row in tile.intruders)]
        return [line for line in (*found, *self.questions) if line]

    @property
    def words(self) -> int:
        """How many words it has, those of its pictures included."""
        return sum(len(line.split()) for line in self.lines)


_VERDICTS = {
    Verdict.PASS: "Meets the policy",
    Verdict.REVIEW: "Needs a decision",
    Verdict.FAIL: "Blocked",
    Verdict.UNKNOWN: "Blocked, could not be judged",
}


def first_screen(dossier: Dossier, settled: str = "") -> FirstScreen:
    """What stands first of a release.

    settled : where nothing is asked any more, how it stands, in a sentence
    cost    : under 1 ms, beside the findings
    """
    verdict = shown(dossier)
    match dossier.view:
        case RecordsView() as records:
            happened, safe, worth = _happened(dossier, records), _safe(dossier), _worth(dossier, records)
        case TablesView() as tables:
            happened, safe, worth = _cells(tables), _audit(dossier, tables), _lost(tables)
    tiles = (happened, safe, worth)
    if verdict in (Verdict.FAIL, Verdict.UNKNOWN):
        tiles = (_why(dossier, safe), _smallest_change(dossier), happened)
    elif verdict is Verdict.REVIEW:
        tiles = (_undecided(dossier), safe, worth)
    word, style = _VERDICTS[verdict], VERDICT_WORDS[verdict].style
    if verdict is Verdict.PASS and dossier.unadopted:
        word, style = "Meets the policy, but cannot be released", VERDICT_WORDS[Verdict.REVIEW].style
    screen = FirstScreen(
        release=dossier.release,
        title=brief(dossier.title, _TITLE),
        verdict=word,
        style=style,
        asked=nothing_asked(settled) if settled else what_is_asked(dossier),
        tiles=tiles,
        questions=tuple(_questions(dossier)),
        leads_to=(*dossier.same_bytes[:_MOST_NAMED], *dossier.judged_bytes[:_MOST_NAMED]),
    )
    told = {quoted(each, words): in_short(each) for each in reasons(dossier) for words in _QUOTED}
    told[best_intruder(dossier.findings)] = best_intruder(dossier.findings, short=True)
    return _within(screen, {says: short for says, short in told.items() if short})


def what_is_asked(dossier: Dossier) -> WhatIsAsked:
    """What is asked as long as nobody has decided."""
    verdict, asked = shown(dossier), dossier.asked
    if asked is None:
        return nothing_asked(f"{dossier.approvals_needed[:1].upper()}{dossier.approvals_needed[1:]}")
    if verdict is Verdict.REVIEW and not dossier.unadopted:
        open_ = {each.says for each in reasons(dossier)}
        return findings_asked(dossier.release, len(open_), dossier.decides, dossier.submitter)
    if verdict is Verdict.PASS and not dossier.unadopted:
        return approvals_asked(dossier.release, asked.count, asked.roles, asked.valid_days, dossier.submitter)
    return of_verdict(verdict, dossier.submitter, dossier.unadopted)


def _within(screen: FirstScreen, shorter: Mapping[str, str]) -> FirstScreen:
    """The screen with no more than MOST_WORDS, where its longest sentences can be shortened so far.

    shorter : sentences that are not cut, as their figures decide, and what stands for them where words are short
    """
    while (excess := screen.words - MOST_WORDS) > 0:
        lengths = {
            len(says.split()): says for tile in screen.tiles for says in tile.says if says not in shorter.values()
        }
        longest = max(lengths, default=0)
        if longest <= _SHORTEST:
            break
        fits = max(_SHORTEST, longest - excess - 1) - 1  # and the sign that it is cut
        told = shorter.get(lengths[longest]) or brief(lengths[longest], fits)
        tiles = (
            tile.model_copy(update={"says": tuple(told if it == lengths[longest] else it for it in tile.says)})
            for tile in screen.tiles
        )
        screen = screen.model_copy(update={"tiles": tuple(tiles)})
    return screen


def _happened(dossier: Dossier, view: RecordsView) -> Tile:
    before = len(view.variables)
    after = sum(each.kind_after is not None for each in view.variables)
    people = people_of(dossier.findings)
    received = f"{dossier.records_original:,} {people}"
    if not view.records_released:
        return Tile(title="What happened", says=(f"{received} were received; nothing was masked.",))
    if view.records_released != dossier.records_original:
        received += f" received, {view.records_released:,} records released"
    says = [f"{received}; {after} of {before} variables released." if before else f"{received}."]
    if view.treatments:
        says.append(f"{_treated(view.treatments)}.")
    elif dossier.plan:
        says.append(brief(dossier.plan[0], _CAUSE))
    return Tile(title="What happened", says=tuple(says))


def _treated(treatments: Sequence[Treatment]) -> str:
    """'1 variable left out (town), 6 grouped, 2 swapped'."""
    first, *others = (f"{len(each.variables)} {{}}{each.how}{_named(each)}" for each in treatments)
    variable = "variable " if len(treatments[0].variables) == 1 else "variables "
    return ", ".join([first.format(variable), *(each.format("") for each in others)])


def _named(treatment: Treatment) -> str:
    """What is left out, as its readers would look for it; the others stand in the file."""
    if treatment.how != _LEFT_OUT:
        return ""
    names = treatment.variables
    more = f" and {len(names) - _MOST_LEFT_OUT} more" if len(names) > _MOST_LEFT_OUT else ""
    return f" ({', '.join(names[:_MOST_LEFT_OUT])}{more})"


def _safe(dossier: Dossier) -> Tile:
    rows = intruders(dossier.findings)
    says = [best_intruder(dossier.findings)]
    if rows and rows[0].share is not None:
        near = f"{100 * rows[0].share:.0f}"
        says.append("None comes near its limit." if near == "0" else f"Nearest its limit ({near} %): {rows[0].who}.")
    return Tile(title="Is it safe?", says=tuple(filter(None, says)) or ("No intruder was tried.",), intruders=rows)


def _worth(dossier: Dossier, view: RecordsView) -> Tile:
    drawn = bars(dossier.findings, view)
    says = good_for(dossier.findings, view) if drawn else "It was not measured."
    return Tile(title="What is it worth?", says=(says,), bars=drawn)


def _why(dossier: Dossier, safe: Tile) -> Tile:
    """The one reason, and the variable that causes it."""
    kept_back = reasons(dossier)
    if not kept_back:
        return Tile(title="Why it is blocked", says=("Nothing was judged that decides.",))
    worst = lead(dossier, kept_back)
    told = next((each for each in (worst, *kept_back) if each.where), None)
    cause = most_telling(dossier)
    if told is not None:
        by = "Most" if told.rule == worst.rule else f"By {rule_words(told.rule)}, most"
        cause = f"{by} through {told.where[0]}"
    blocking = {each.says for each in kept_back if each.verdict in (Verdict.FAIL, Verdict.UNKNOWN)}
    more = len(blocking - {worst.says})
    others = f"{more} more reason{'s' if more > 1 else ''} below." if more else ""
    says = (quoted(worst, _REASON), brief(cause, _CAUSE) if cause else "", others)
    return Tile(title="Why it is blocked", says=tuple(filter(None, says)), intruders=safe.intruders)


def _smallest_change(dossier: Dossier) -> Tile:
    title = "The smallest change that passes"
    if dossier.suggestions:
        return Tile(title=title, says=(f"Tried, and passed: {brief(dossier.suggestions[0], _CHANGE)}.",))
    fails = any(each.verdict is Verdict.FAIL for each in reasons(dossier))
    if isinstance(dossier.view, RecordsView) and fails and not dossier.is_assessment:
        return Tile(title=title, says=("None was tried yet: sluice suggest FILE finds and names it, with its price.",))
    worst = reasons(dossier)
    advice = worst[0].advice if worst else ""
    return Tile(title="What may help", says=(brief(advice, _CHANGE) if advice else "See the findings below.",))


def _undecided(dossier: Dossier) -> Tile:
    """What has to be decided."""
    open_ = {each.says: each for each in reversed(reasons(dossier))}
    words = _QUOTED[len(open_) > 1]
    says = [quoted(each, words) for each in [*reversed(open_.values())][:_MOST_NAMED]]
    if len(open_) > _MOST_NAMED:
        says.append(f"And {len(open_) - _MOST_NAMED} more below.")
    return Tile(title="What needs a decision", says=tuple(says))


def _cells(view: TablesView) -> Tile:
    tables = _patterns(view)
    if not tables:
        return Tile(title="What happened", says=("No table was made.",))
    listed, suppressed = (sum(one) for one in zip(*((t.cells - t.withheld, t.suppressed) for t in tables), strict=True))
    # by some measure, where several share the pattern
    sensitive = sum(table.primary if table.measure else table.sensitive for table in tables)
    count = "1 table" if len(tables) == 1 else f"{len(tables)} tables"
    share = percent(suppressed / listed if listed else 0.0)
    says = f"{count}, {listed:,} cells: {sensitive:,} sensitive, {suppressed:,} suppressed ({share})."
    return Tile(title="What happened", says=(says,), grid=True)


def _patterns(view: TablesView) -> list[TableSummary]:
    """Each table once: measures that share a pattern have the same cells."""
    return [table for table in view.tables if table.measure == view.tables[0].measure]


def _audit(dossier: Dossier, view: TablesView) -> Tile:
    found = [table.audit for table in view.tables if table.audit is not None]
    if not found:
        attacks = [each for each in dossier.findings if each.stage == "attack" and each.binding]
        worst = max(attacks, key=lambda each: each.verdict, default=None)
        tried = quoted(worst, _REASON) if worst else "Suppressed cells were not audited."
        return Tile(title="Is it safe?", says=(tried,))
    if any(audit.breaches for audit in found):
        breached = sum(audit.breaches for audit in found)
        cells = "1 suppressed cell is" if breached == 1 else f"{breached:,} suppressed cells are"
        return Tile(title="Is it safe?", says=(f"{cells} not protected as the policy asks.",))
    of_all = {table.measure: table.audit for table in view.tables if table.audit is not None}.values()
    attempted, completed = (sum(getattr(audit, what) for audit in of_all) for what in ("attempted", "completed"))
    if completed < attempted:
        return Tile(title="Is it safe?", says=(f"{attempted - completed:,} attacks could not be decided.",))
    if not attempted:
        return Tile(title="Is it safe?", says=("No cell is suppressed, so there was nothing to attack.",))
    least = min((each.times_required for one in found for each in one.narrowest), default=None)
    says = [f"All {attempted:,} attacks on suppressed cells failed."]
    if least is not None:
        says.append(
            "Nobody, no contributor either, bounds a suppressed cell closer than "
            + ("the policy asks." if least <= 1 else f"{least:g} times the width that the policy asks for.")
        )
    return Tile(title="Is it safe?", says=tuple(says))


def _lost(view: TablesView) -> Tile:
    tables = _patterns(view)
    lost = [
        " × ".join(_short(view.label(name, code)) for name, code in cell.items())
        for table in tables
        for cell in table.largest_lost
    ][:3]
    whole = [table.name for table in tables if not table.suppressed]
    listed = sum(table.cells - table.withheld for table in tables)
    kept = sum(table.published for table in tables)
    says = [f"Largest cells lost: {'; '.join(lost)}." if lost else ""]
    totals = [
        level.dimension for table in tables for level in table.levels if level.depth == 0 and not level.suppressed
    ]
    if whole:
        says.append(f"Whole: {', '.join(whole[:_MOST_NAMED])}.")
    elif totals:
        says.append(f"All totals over {', '.join([*dict.fromkeys(totals)][:_MOST_NAMED])} stand.")
    drawn = (Bar(says="Cells published", share=kept / listed, of=f"{kept:,} of {listed:,}"),) if listed else ()
    return Tile(title="What is it worth?", says=tuple(filter(None, says)), bars=drawn)


def _short(label: str) -> str:
    """A code and the first words of what it means."""
    words = label.replace(";", ",").split(",")[0].split()
    return " ".join(words[:3])


def _questions(dossier: Dossier) -> list[str]:
    """What to ask about, the gravest first."""
    found = []
    if dossier.same_bytes:
        found.append(f"The same bytes are public already: {', '.join(dossier.same_bytes[:_MOST_NAMED])}.")
    if dossier.judged_bytes:
        found.append(f"The same bytes were judged before: {', '.join(dossier.judged_bytes[:_MOST_NAMED])}.")
    if dossier.earlier_attempts:
        times = {1: "once", 2: "twice"}.get(dossier.earlier_attempts, f"{dossier.earlier_attempts} times")
        found.append(f"Nearly the same data were judged {times} before: another edition, product or try?")
    if dossier.search_trials:
        found.append(f"A search tried {dossier.search_trials:,} plans on them.")
    beyond = [*dict.fromkeys(rule_words(each.rule) for each in beyond_reported_limits(dossier.findings))]
    if beyond:
        more = f" and {len(beyond) - _MOST_NAMED} more" if len(beyond) > _MOST_NAMED else ""
        found.append(f"Beyond a reported limit: {', '.join(beyond[:_MOST_NAMED])}{more}.")
    if given := waived(dossier):
        found.append(f"Waived: {', '.join(dict.fromkeys(rule_words(each.rule) for each in given))}.")
    return found


def beyond_reported_limits(findings: Sequence[Finding]) -> list[Finding]:
    """Figures of the released file beyond a limit that is only reported."""
    return [
        each
        for each in findings
        if not each.binding and each.stage != "original" and each.verdict in (Verdict.FAIL, Verdict.REVIEW)
    ]
