"""One process at a time carries out what was decided on a release; others are not in its way."""

import threading
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from tasks.release.locks import alone_with_release


def release(home: Path, name: str) -> Any:
    return SimpleNamespace(id=name, product=SimpleNamespace(workspace=SimpleNamespace(home=home)))


def test_who_comes_second_waits(tmp_path: Path) -> None:
    came = threading.Event()

    def second() -> None:
        with alone_with_release(release(tmp_path, "fair-1")):
            came.set()

    other = threading.Thread(target=second)
    with alone_with_release(release(tmp_path, "fair-1")):
        other.start()
        assert not came.wait(0.2)
    other.join()
    assert came.is_set()


def test_another_release_is_not_waited_for(tmp_path: Path) -> None:
    with alone_with_release(release(tmp_path, "fair-1")), alone_with_release(release(tmp_path, "fair-2")):
        pass
