"""What MkDocs does beyond Markdown: pages made from the code, and links that leave docs/.

MkDocs runs the functions by their names (mkdocs.yml, `hooks`).
"""

import json
import re
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))  # MkDocs loads this file by its path

from mkdocs.structure.files import File, Files  # noqa: E402

from deployments.documentation.document_keys import document_keys  # noqa: E402
from flows.json_schemas import DOCUMENTS, json_schema  # noqa: E402

_OUTSIDE = re.compile(r"\[([^\]]*)\]\(\.\./([^)#]+)(?:#[^)]*)?\)")


def on_files(files: Files, config: Any) -> Files:
    """Add the pages and files that lie nowhere."""
    contributing = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8").replace("](docs/", "](")
    made = {"keys.md": document_keys(), "contributing.md": contributing}
    for place, model in DOCUMENTS.items():
        made[f"schemas/{place.split('/')[-1]}"] = json.dumps(json_schema(model), indent=2, ensure_ascii=False)
    for place, content in made.items():
        files.append(File.generated(config, place, content=content))
    return files


def on_post_build(config: Any, **_: Any) -> None:
    """Show the navigation on screens of 1,100 pixels: Material hides it on those below 1,220."""
    for file in Path(config["site_dir"]).glob("assets/*/*.min.*s"):
        text = file.read_text(encoding="utf-8")
        narrower = text.replace("76.25em", "68.75em").replace("76.234375em", "68.734375em")
        if narrower != text:
            file.write_text(narrower, encoding="utf-8")


def on_page_markdown(markdown: str, **_: Any) -> str:
    """A site has no source code to link to: the path is shown instead."""
    return _OUTSIDE.sub(lambda link: f"{link[1]} (`{link[2]}`)", markdown)
