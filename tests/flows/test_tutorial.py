"""`sluice tutorial` waits for Enter, stops where the page is wrong, leaves or takes away its folder, spoils nothing."""

from io import StringIO
from pathlib import Path

import pytest

from tests.flows.house import DONE, ERROR, House
from tests.golden import golden

PAGE = """Words with a [link](methods.md).

```csv title="people.csv"
name,age
```

```console
$ wc -l people.csv
1 people.csv
$ pwd > {place}
```
"""


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where the short page that is played here writes its folder's name."""
    place = tmp_path / "place"
    monkeypatch.setattr("tasks.project.walkthrough.tutorial_page", lambda: PAGE.format(place=place))
    return place


def test_a_folder_that_is_named_is_left_and_one_that_is_not_goes_away(
    house: House, place: Path, tmp_path: Path
) -> None:
    told = house.sluice("tutorial", str(tmp_path / "mine"), "--yes")
    assert told.code == DONE, told.words
    golden.words(told.out)
    assert "$ wc -l people.csv" in told.out
    assert (tmp_path / "mine" / "people.csv").is_file()
    assert house.sluice("tutorial", "--yes").code == DONE
    played = Path(place.read_text(encoding="utf-8").strip())
    assert "sluice-tutorial-" in played.name
    assert not played.exists()


def test_it_waits_for_enter_before_each_command(house: House, place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    monkeypatch.setattr("builtins.input", lambda *_: asked.append("Enter") or "")
    assert house.sluice("tutorial").code == DONE
    assert asked == ["Enter", "Enter"]


def test_it_stops_where_something_else_comes(house: House, place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    wrong = PAGE.format(place=place).replace("1 people.csv", "2 people.csv")
    monkeypatch.setattr("tasks.project.walkthrough.tutorial_page", lambda: wrong)
    told = house.sluice("tutorial", "--yes")
    assert told.code == ERROR
    golden.words(told.err)
    assert not place.exists()


def test_a_folder_with_something_in_it_is_refused(house: House, place: Path, tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.txt").write_text("years of work")
    house.sluice("tutorial", str(tmp_path / "mine"), "--yes").refused()
    assert not place.exists()


def test_without_the_survey_it_says_what_to_install(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tasks.project.walkthrough.find_spec", lambda name: None)
    told = house.sluice("tutorial", "--yes")
    assert told.code == ERROR
    assert "pip install 'sluice-sdc[demo]'" in told.words


def test_where_nobody_can_press_enter_it_says_how_to_go_on(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", StringIO(""))
    told = house.sluice("tutorial")
    assert told.code == ERROR
    assert "--yes" in told.words
