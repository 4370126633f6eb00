"""The pictures of the tutorial: `python -m deployments.documentation.pictures FOLDER` after `sluice tutorial FOLDER`.

They show what the tutorial made: the report, by a Chromium that the system has, and the map as the command wrote it.
"""

import re
import shutil
import sys
from pathlib import Path

PICTURES = Path(__file__).resolve().parents[2] / "docs" / "pictures"


def take_pictures(folder: Path, pictures: Path = PICTURES) -> list[Path]:
    """Picture what lies in the folder of a tutorial that was played; returns the files.

    raises : RuntimeError where the tutorial was not played there or no Chromium is found
    """
    from playwright.sync_api import sync_playwright

    made = (folder / "workspace" / "reports").glob("women-*.html")
    reports = [path for path in made if re.fullmatch("women-[0-9a-f]{12}", path.stem)]
    chromium = shutil.which("chromium")
    if not reports or chromium is None:
        raise RuntimeError(f"no report in {folder}: play it first" if not reports else "needs Debian's chromium")
    pictures.mkdir(parents=True, exist_ok=True)
    with sync_playwright() as browsers:
        browser = browsers.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 1000, "height": 900})
        page.goto(reports[-1].resolve().as_uri())
        page.screenshot(path=pictures / "report.png")
        browser.close()
    (pictures / "map.svg").write_bytes((folder / "map.svg").read_bytes())
    return [pictures / "report.png", pictures / "map.svg"]


if __name__ == "__main__":
    for picture in take_pictures(Path(sys.argv[1])):
        print(picture)
