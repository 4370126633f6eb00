"""The tutorial is played as a reader would play it, and what it shows is what comes; its pictures show what it made."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from flows.cli.main import main
from tasks.project.walkthrough import tutorial_page

ROOT = Path(__file__).resolve().parents[2]

pytestmark = pytest.mark.servers


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("tutorial") / "played"
    assert (
        main(["tutorial", str(folder), "--yes"]) == 0
    )  # it compares what comes with the page, and stops where it differs
    return folder


@pytest.mark.chain
def test_the_docs_have_the_page_that_is_played() -> None:
    assert (ROOT / "docs" / "tutorial.md").read_text(encoding="utf-8") == tutorial_page(), (
        "write the output of `sluice tutorial --text` into docs/tutorial.md"
    )


def test_it_ends_with_a_publication_in_the_folder_and_nothing_beside_it(played: Path) -> None:
    made = {"women.csv", "panel", "keys", "keys.txt", "workspace", "reader", "map.svg"}
    assert {path.name for path in played.iterdir()} == made
    [published] = (played / "panel" / "published").glob("women-*/women.csv")
    assert len(published.read_text(encoding="utf-8").splitlines()) == 6367


@pytest.mark.skipif(not shutil.which("chromium"), reason="needs Debian's chromium")
def test_its_pictures_are_made_of_what_it_made(played: Path, tmp_path: Path) -> None:
    from deployments.documentation.pictures import take_pictures

    report, chart = take_pictures(played, tmp_path / "pictures")
    assert report.read_bytes().startswith(b"\x89PNG")
    assert report.stat().st_size > 20_000  # a page that stayed empty has less
    assert all(f">{plan}<" in chart.read_text(encoding="utf-8") for plan in "AB")
    shown = set(re.findall(r"\]\((pictures/[^)]+)\)", tutorial_page()))
    assert shown == {f"pictures/{path.name}" for path in (report, chart)}
    assert all((ROOT / "docs" / picture).is_file() for picture in shown)


@pytest.mark.skipif(not shutil.which("Rscript"), reason="needs R")
def test_r_reads_what_was_published_as_its_page_says(played: Path) -> None:
    page = (ROOT / "docs" / "r.md").read_text(encoding="utf-8")
    [code] = re.findall(r"^```r published\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    packages = 'quit(status = !all(c("readr", "jsonlite") %in% rownames(installed.packages())))'
    if subprocess.run(["Rscript", "-e", packages], check=False).returncode:
        pytest.skip("needs R's packages readr and jsonlite")
    script = f"{code}\ncat(types[['affairs']])\n"
    done = subprocess.run(
        ["Rscript", "-"], input=script, cwd=played / "panel", capture_output=True, text=True, check=True
    )
    assert '"PASS" "6366" "TRUE"' in done.stdout
    assert done.stdout.endswith("number")
