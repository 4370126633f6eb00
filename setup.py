"""What pyproject.toml cannot say: where a wheel has our packages, and which commit it is made of.

Installed, `flows`, `tasks`, `schemas` and `policies` lie below `sluice_sdc`: a project may have packages of these names
of its own. The build rewrites the imports; no other line names these packages, which a test checks.
"""

import ast
import re
import shutil
import subprocess
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py
from setuptools.command.egg_info import egg_info
from setuptools.command.sdist import sdist

ROOT = Path(__file__).resolve().parent
NOTE = "sluice/commit.txt"
ABOVE = "sluice_sdc"
ROOMS = ("flows", "tasks", "schemas", "policies")
_ROOM = "|".join(ROOMS)


def commit() -> str:
    """The commit that is checked out here, as it is; empty where nobody knows it: files were changed, or no history."""

    def git(*arguments: str) -> str:
        done = subprocess.run(["git", "-C", str(ROOT), *arguments], capture_output=True, text=True, check=True)
        return done.stdout.strip()

    try:
        ours = Path(git("rev-parse", "--show-toplevel")).resolve() == ROOT  # not that of a folder around it
        return git("rev-parse", "HEAD") if ours and not git("status", "--porcelain", "--untracked-files=no") else ""
    except (OSError, subprocess.CalledProcessError):
        return ""


def note(folder: str) -> None:
    if found := commit():
        (Path(folder) / NOTE).write_text(f"{found}\n", encoding="ascii")


def move(built: Path) -> None:
    """Put the packages that are built in a folder below `sluice_sdc`, and have every import follow."""
    (built / ABOVE).mkdir(exist_ok=True)
    (built / ABOVE / "__init__.py").write_text('"""What is above the package `sluice`."""\n', encoding="utf-8")
    for room in filter(Path.is_dir, (built / room for room in ROOMS)):
        shutil.rmtree(built / ABOVE / room.name, ignore_errors=True)  # of a build before
        room.rename(built / ABOVE / room.name)
    for module in (*(built / "sluice").rglob("*.py"), *(built / ABOVE).rglob("*.py")):
        source = module.read_text(encoding="utf-8")
        module.write_text(with_moved_imports(source), encoding="utf-8")


def with_moved_imports(source: str) -> str:
    """The source of a module that imports our packages from where a wheel has them; no line is added or lost."""
    lines = source.split("\n")
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            line = lines[node.lineno - 1]
            line = re.sub(rf"^(\s*)from ({_ROOM})\b", rf"\1from {ABOVE}.\2", line)
            line = re.sub(rf"^(\s*)import ({_ROOM})$", rf"\1from {ABOVE} import \2", line)
            if re.match(rf"\s*(from|import) ({_ROOM})\b", line):
                raise ValueError(f"{line.strip()}: write `from package import module`, which the build can move")
            lines[node.lineno - 1] = line
    return "\n".join(lines)


class Build(build_py):
    def run(self) -> None:
        super().run()
        if not self.editable_mode:  # of a working tree Sluice itself looks what is checked out
            note(self.build_lib)
            move(Path(self.build_lib))


class Metadata(egg_info):
    def run(self) -> None:
        """As ever, but for the names that a wheel brings."""
        super().run()
        (Path(self.egg_info) / "top_level.txt").write_text(f"sluice\n{ABOVE}\n", encoding="ascii")


class Archive(sdist):
    def make_release_tree(self, base_dir: str, files: list[str]) -> None:
        super().make_release_tree(base_dir, files)
        note(base_dir)


setup(cmdclass={"build_py": Build, "egg_info": Metadata, "sdist": Archive})
