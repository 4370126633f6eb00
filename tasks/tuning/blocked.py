"""Suggestions for a definition in a file, recorded as a search and kept for the next report."""

from pathlib import Path

from sluice.documents.documents import canonical_json, parse_document, read_yaml
from sluice.ground.errors import DocumentError
from tasks.release.documents import load_documents, open_workspace
from tasks.release.kept_suggestions import keep_suggestions
from tasks.release.records.definition import RecordsDefinition
from tasks.release.records.product import Records
from tasks.release.versions import versions
from tasks.tuning.ground import staged_records
from tasks.tuning.journal import Journal
from tasks.tuning.space import SearchSettings
from tasks.tuning.suggestions import Suggestions, Told, suggest
from tasks.tuning.tuning import recorded


def suggest_for(
    path: Path,
    settings: SearchSettings,
    workers: int = 1,
    told: Told = lambda done, of, found: None,
) -> Suggestions:
    """The smallest changes of the definition's plan that would pass. The next report on it has them.

    raises : DocumentError, DataError
    """
    written = read_yaml(path)
    if "tables" in written:
        raise DocumentError(f"{path}: sluice suggest is for files of records; for tables see sluice redesign-table")
    definition = parse_document(RecordsDefinition, written, str(path))
    product = load_documents(Records, path, definition, open_workspace())
    product.refuse_unfit()
    data, whole = staged_records(product)
    searched, _ = whole.split(settings)
    parts = "\n".join((*(product.hashes[name] for name in sorted(product.hashes)), data.sha256))
    name = f"{definition.name}-{product.workspace.vault.pseudonym('suggest', parts)[:12]}"
    kept = "\n".join((parts, settings.model_dump_json(exclude={"minutes"}), canonical_json(versions()).decode()))
    journal_name = f"suggest-{product.workspace.vault.pseudonym('suggest', kept)[:24]}.jsonl"
    journal, done = Journal(product.workspace.home / "tuning" / journal_name), 0

    def count(tried: int, of: int, passing: int) -> None:
        nonlocal done
        done = tried
        told(tried, of, passing)

    with recorded(product, name, data, whole.variables, settings.trials) as taken:
        try:
            plan = tuple(written["plan"])
            found = suggest(product.definition, plan, searched, whole, settings, workers, count, journal)
        finally:
            taken["trials"] = done
        taken["passed"] = bool(found.passing)
    keep_suggestions(product, tuple(each.in_words(found.before.loss) for each in found.passing))
    return found
