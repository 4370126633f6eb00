"""The demo: an office of three; releases of a real survey, one refused, one signed and published, one of tables; and
what is noticed when somebody changes a byte of what was published, or a row of the ledger.

Everything lands in ./demo; nothing outside is touched.
"""

import os
import shlex
import shutil
import sqlite3
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager, redirect_stdout
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
HOUSE = ROOT / "demo"
os.environ["SLUICE_HOME"] = str(HOUSE / "home")
os.environ.pop("PREFECT_API_URL", None)  # the demo needs no server
for setting in ("SLUICE_LEDGER_URL", "SLUICE_CONNECTIONS"):
    os.environ.pop(setting, None)

from rich.console import Console  # noqa: E402 - the house must be known before Sluice is loaded

from deployments.warehouse import build_warehouse, write_connections  # noqa: E402

KEYS = HOUSE / "keys"
PEOPLE = """\
# The demo's people sign. Their keys lie in one folder here; where it matters, each person alone has theirs.
identity: key
people:
  emil: {{roles: [head, owner], keys: ["{emil}"]}}
  amara: {{roles: [methodologist], keys: ["{amara}"]}}
  jonas: {{roles: [data_steward], keys: ["{jonas}"]}}
"""

console = Console(highlight=False)


def main() -> int:
    if HOUSE.exists():
        shutil.rmtree(HOUSE)
    HOUSE.mkdir()
    console.rule("[bold]A warehouse with confidential records")
    warehouse = HOUSE / "warehouse.duckdb"
    console.print(f"{build_warehouse(warehouse):,} records of the survey are in {shown(warehouse)}")
    connections = HOUSE / "home" / "connections.yaml"
    write_connections(connections, warehouse, [ROOT])
    console.print(f"releases may read what {shown(connections)} lists")

    from flows.cli.main import main as command
    from flows.cli.terminal import BLOCKED, DONE, ERROR, WAITING

    console.rule("[bold]1. An office: who counts, and which documents")
    for person in ("emil", "amara", "jonas"):
        sluice("key", "new", str(shown(KEYS / person)), expect=DONE)
    people = HOUSE / "people.yaml"
    keys = {path.stem: path.read_text(encoding="utf-8").strip() for path in KEYS.glob("*.pub")}
    people.write_text(PEOPLE.format(**keys), encoding="utf-8")
    documents = ("schemas/fair_survey.yaml", "deployments/demo/policy.yaml", "deployments/demo/tables-policy.yaml")
    sluice("office", *documents, "--people", str(shown(people)), *by("emil"), expect=DONE)

    console.rule("[bold]2. A careless release: a little noise, and out it goes")
    sluice("release", "deployments/demo/light-noise.yaml", expect=BLOCKED)

    console.rule("[bold]3. A proper release: recoded, suppressed, swapped")
    sluice("release", "deployments/demo/fair-survey.yaml", expect=WAITING)
    release = next(path.stem for path in (HOUSE / "home" / "runs").glob("fair-survey-*.json"))
    sluice("approve", release, *by("amara"), "--comment", "k and l hold; utility is fine", expect=WAITING)
    sluice("approve", release, *by("jonas"), "--comment", "agreed", expect=DONE)
    for path in sorted((HOUSE / "published" / release).iterdir()):
        console.print(f"  {path.stat().st_size:>9,} bytes  {shown(path)}")

    console.rule("[bold]4. Tables of the same survey: small counts suppressed, and as many others as it takes")
    sluice("release", "deployments/demo/tables.yaml", expect=WAITING)
    tables = next(path.stem for path in (HOUSE / "home" / "runs").glob("occupation-tables-*.json"))
    sluice("approve", tables, *by("amara"), "--comment", "the audit found nothing", expect=WAITING)
    sluice("approve", tables, *by("jonas"), "--comment", "agreed", expect=DONE)

    console.rule("[bold]5. A data user, who has nothing but a copy and the office's public keys")
    keys_file, copy = HOUSE / "keys.txt", HOUSE / "copy" / release
    with keys_file.open("w", encoding="utf-8") as file, redirect_stdout(file):
        command(["people", "--keys"])
    console.print(f"... the office hands out {shown(keys_file)}: what `sluice people --keys` prints ...")
    shutil.copytree(HOUSE / "published" / release, copy)
    verification = ("verify", str(shown(copy)), "--keys", str(shown(keys_file)), "--people", "2")
    sluice(*verification, expect=DONE)
    console.print("... somebody changes one byte of the copy ...")
    change_a_byte(copy / "fair-survey.csv")
    sluice(*verification, expect=ERROR)

    console.rule("[bold]6. Somebody edits the ledger")
    sluice("ledger", "verify", expect=DONE)
    console.print("... the row that says 'blocked' is made to say 'approved' ...")
    with tampered():
        sluice("ledger", "verify", expect=ERROR)
    console.print("... the ledger is put back as it was ...")
    sluice("ledger", "verify", expect=DONE)

    console.rule("[bold]Where to look")
    for report in sorted((HOUSE / "home" / "reports").glob("*.html")):
        console.print(f"report     {shown(report)}")
    folder = HOUSE / "published" / release
    console.print(f"file       {shown(folder / 'fair-survey.parquet')}, {shown(folder / 'fair-survey.csv')}")
    console.print(f"manifest   {shown(folder / 'manifest.json')}")
    console.print(f"tables     {shown(HOUSE / 'published' / tables / 'couples.csv')}")
    console.print(f"steward    {shown(HOUSE / 'home' / 'data_docs' / 'fair-survey' / 'index.html')}")
    return 0


def sluice(*arguments: str, expect: int) -> None:
    """Run a command of Sluice as a person would type it; stop the demo when it does not end as it must."""
    from flows.cli.main import main as command

    console.print(f"[bold green]$ sluice {shlex.join(arguments)}[/bold green]", soft_wrap=True)
    code = command(list(arguments))
    console.print(f"[dim]exit code {code}[/dim]\n")
    if code != expect:
        sys.exit(f"demo: 'sluice {arguments[0]}' ended with {code}; expected {expect}")


def by(person: str) -> tuple[str, str]:
    return "--key", str(shown(KEYS / person))


def change_a_byte(file: Path) -> None:
    content = bytearray(file.read_bytes())
    content[len(content) // 2] ^= 1
    file.write_bytes(content)


@contextmanager
def tampered() -> Iterator[None]:
    """The ledger as somebody leaves it who has access to the database, but not to the vault; then as it was."""
    with closing(sqlite3.connect(HOUSE / "home" / "ledger.db")) as ledger, closing(sqlite3.connect(":memory:")) as kept:
        ledger.backup(kept)
        try:
            for (trigger,) in ledger.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall():
                ledger.execute(f"DROP TRIGGER {trigger}")
            ledger.execute("UPDATE sluice_ledger SET event = 'approved' WHERE event = 'blocked'")
            ledger.commit()
            yield
        finally:
            kept.backup(ledger)


def shown(path: Path) -> Path:
    return path.relative_to(ROOT)


if __name__ == "__main__":
    os.chdir(ROOT)
    sys.exit(main())
