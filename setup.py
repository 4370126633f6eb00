"""What pyproject.toml cannot say: a wheel, and the archive of the sources, name the commit that they are made of."""

import subprocess
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py
from setuptools.command.sdist import sdist

ROOT = Path(__file__).resolve().parent
NOTE = "sluice/commit.txt"


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


class Build(build_py):
    def run(self) -> None:
        super().run()
        if not self.editable_mode:  # of a working tree Sluice itself looks what is checked out
            note(self.build_lib)


class Archive(sdist):
    def make_release_tree(self, base_dir: str, files: list[str]) -> None:
        super().make_release_tree(base_dir, files)
        note(base_dir)


setup(cmdclass={"build_py": Build, "sdist": Archive})
