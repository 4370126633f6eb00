"""A distribution installed as pip would, by a folder with its package and its .dist-info, without pip."""

import hashlib
import shutil
from base64 import urlsafe_b64encode
from pathlib import Path

PACKAGE = Path(__file__).parent / "acme"
ENTRY_POINTS = """[sluice.methods]
acme_floor = acme.method:AcmeFloor

[sluice.checks]
acme_top = acme.check:AcmeTop
"""


def install(site: Path, entry_points: str = ENTRY_POINTS, record: bool = True) -> Path:
    """Put the package into `site`, to stand on sys.path."""
    shutil.copytree(PACKAGE, site / "acme", ignore=shutil.ignore_patterns("__pycache__"))
    info = site / "acme_sluice-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: Acme_Sluice\nVersion: 1.0\n", encoding="utf-8")
    (info / "entry_points.txt").write_text(entry_points, encoding="utf-8")
    lines = []
    for path in sorted(path for path in site.rglob("*") if path.is_file()):
        content = path.read_bytes()
        digest = urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
        lines.append(f"{path.relative_to(site)},sha256={digest},{len(content)}")
    if record:
        (info / "RECORD").write_text("\n".join([*lines, f"{info.name}/RECORD,,", ""]), encoding="utf-8")
    return site
