"""Plans, releases and masked files side by side: one page and one map. Nothing is published."""

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from policies.utility_limits import UtilityLimits
from sluice.custody.ledger import recorded_entries
from sluice.custody.shelf import refuse_to_overwrite
from sluice.custody.workspace import Workspace
from sluice.ground.durable import replace
from sluice.ground.errors import DataError, did_you_mean
from sluice.report.comparison_page import render_comparison
from sluice.report.dossier import Dossier
from sluice.report.plan_comparison import Comparison
from sluice.report.plan_comparison import compare as put_together
from sluice.report.risk_utility_map import DEFAULT_LOSS, MARGIN, Plan
from sluice.report.risk_utility_plot import risk_utility_svg
from sluice.utility.analyses.asked_analyses import Analyses
from tasks.release.stored_dossier import kept_dossier
from tasks.workbench.assess import assess_files

_PAGE, _REPORT = (f'<meta name="generator" content="sluice {of}">'.encode() for of in ("compare", "report"))
_MAP = b'<svg class="plot ru-map"'
_BEGINNING = 2_000  # bytes of a file, among which its mark stands

_DOCUMENTS = (".yaml", ".yml")
_FILES = (".csv", ".parquet")


@dataclass(frozen=True)
class Original:
    """What masked files are compared with, as `assess` takes it."""

    original: Path
    contract: Path | None = None
    policy: Path | None = None
    holdout: Path | None = None
    paired: bool = False


@dataclass(frozen=True)
class Candidates:
    """What is to be compared, sorted by what it is; `order` is that in which it was given."""

    order: tuple[str, ...]
    definitions: dict[str, Path]
    masked: dict[str, Path]
    releases: dict[str, Dossier]


def candidates(given: Sequence[str], workspace: Workspace, original: Original | None) -> Candidates:
    """Tell release definitions, masked files and releases apart, before anything is judged.

    given    : files that exist, by their ending, or ids of releases
    original : needed for masked files
    raises   : DataError when one is none of the three, is given twice, or was never judged
    """
    order = tuple(dict.fromkeys(given))
    if len(order) < len(given):
        twice = next(one for one in order if given.count(one) > 1)
        raise DataError(f"{twice} is given twice; compare it with another plan.")
    found = Candidates(order, {}, {}, {})
    for one in order:
        path = Path(one)
        if path.suffix in _DOCUMENTS and path.is_file():
            found.definitions[one] = path
        elif path.suffix in _FILES and path.is_file():
            if original is None:
                raise DataError(f"{one} is a masked file: say --original and --contract, what it was made of.")
            found.masked[one] = path
        elif path.suffix in (*_DOCUMENTS, *_FILES) or path.exists():
            kinds = ", ".join((*_DOCUMENTS, *_FILES))
            raise DataError(
                f"{one}: " + (f"must be a file ending in {kinds}" if path.exists() else "no such file") + "."
            )
        else:
            found.releases[one] = _of_release(workspace, one)
    return found


def _of_release(workspace: Workspace, release_id: str) -> Dossier:
    known = workspace.ledger.histories()
    if release_id not in known:
        hint = did_you_mean(release_id, known)
        raise DataError(
            f"{release_id} is neither a file nor a release of this workspace.{hint} See: sluice ledger status"
        )
    dossier = kept_dossier(workspace, recorded_entries(workspace.ledger, release_id))
    if dossier is None:
        raise DataError(f"{release_id} has not been judged, so there is nothing to compare. Run: sluice check")
    return dossier


def compare(
    found: Candidates,
    checked: dict[str, str],
    workspace: Workspace,
    original: Original | None = None,
    output: Path | None = None,
    *,
    svg: Path | None = None,
    loss: str = DEFAULT_LOSS,
    risk: str = MARGIN,
) -> Comparison:
    """Judge the masked files, and put all on one page.

    checked : of each definition the release that its check made
    output  : where to write the page (HTML); reports on masked files are written beside it, and it links to all
    svg     : where to write the map alone
    raises  : DataError, DocumentError
    """
    refuse_unfit(found, original, output, svg, loss)
    reports = _reports(found, output)
    plans = [_plan(one, found, checked, workspace, original, reports.get(one), output) for one in found.order]
    comparison = put_together(_told_apart(plans), loss, risk)
    if output:
        replace(output, render_comparison(comparison).encode(), 0o600)
    if svg:
        replace(svg, str(risk_utility_svg(comparison.map, standalone=True)).encode(), 0o600)
    return comparison


def refuse_unfit(
    found: Candidates, original: Original | None, output: Path | None, svg: Path | None, loss: str
) -> None:
    """Raise DataError when a file that is written is read, or lies where only releases write; or for a wrong `loss`."""
    known = sorted({*UtilityLimits.model_fields} - {*Analyses.model_fields})
    if loss not in known:
        raise DataError(f"--loss must be one of {', '.join(known)}; got {loss}.", came=loss, allowed=known)
    read = [*found.definitions.values(), *found.masked.values()]
    if original:
        read += [path for path in (original.original, original.contract, original.policy, original.holdout) if path]
    reports = _reports(found, output)
    if len({*reports.values()}) < len(reports):
        raise DataError(f"reports beside {output} would have one name: give the masked files different names.")
    if output:
        refuse_to_overwrite(output, read, *reports.values())
        _refuse_anothers(output, _PAGE, "--output")
        for report in reports.values():
            _refuse_anothers(report, _REPORT, "--output")
    if svg:
        refuse_to_overwrite(svg, [*read, output, *reports.values()], option="--svg")
        _refuse_anothers(svg, _MAP, "--svg")


def _refuse_anothers(path: Path, mark: bytes, option: str) -> None:
    """Raise DataError where something lies that no earlier comparison wrote; each of its outputs begins with a mark."""
    if not os.path.lexists(path):
        return
    if path.is_symlink() or not path.is_file():
        raise DataError(f"{option} {path} exists and is not a file. Name another file.")
    with path.open("rb") as file:
        if mark not in file.read(_BEGINNING):
            raise DataError(
                f"{option} {path} is a file that no comparison wrote, and would be lost. Name another one, or move it."
            )


def _reports(found: Candidates, output: Path | None) -> dict[str, Path]:
    return {} if output is None else {one: _beside(output, path) for one, path in found.masked.items()}


def _plan(
    one: str,
    found: Candidates,
    checked: dict[str, str],
    workspace: Workspace,
    original: Original | None,
    report: Path | None,
    output: Path | None,
) -> Plan:
    if one in found.masked:
        assert original is not None
        dossier = assess_files(
            original.original,
            found.masked[one],
            original.contract,
            original.policy,
            holdout_file=original.holdout,
            paired=original.paired,
            report_file=report,
        )
        return Plan(found.masked[one].name, dossier, None if report is None else report.name)
    if one in found.definitions:
        dossier = _of_release(workspace, checked[one])
        name = dossier.name
    else:
        dossier, name = found.releases[one], one
    page = workspace.reports / f"{dossier.release}.html"
    return Plan(name, dossier, _link(page, output) if page.is_file() else None)


def _told_apart(plans: Sequence[Plan]) -> list[Plan]:
    """The plans, those of one name with the id of their release behind it."""
    names = [plan.name for plan in plans]
    return [
        Plan(f"{plan.name} ({plan.dossier.release})", plan.dossier, plan.report) if names.count(plan.name) > 1 else plan
        for plan in plans
    ]


def _beside(output: Path, masked: Path) -> Path:
    """The report on a masked file: beside the page, with a name of its own."""
    return output.with_name(f"{output.stem}-{re.sub(r'[^A-Za-z0-9._-]', '-', masked.name)}.html")


def _link(page: Path, output: Path | None) -> str:
    """From the written page, or else from anywhere."""
    if output is None:
        return page.resolve().as_uri()
    return Path(os.path.relpath(page.resolve(), output.resolve().parent)).as_posix()
