"""A page is walked through as it is written: its files are made, its commands run, and what differs is noticed."""

import shlex
import sys
from pathlib import Path

import pytest

from tasks.project.walkthrough import Command, NewFile, Text, Walk, differs, steps, without_pictures

PAGE = """# A page

Words, and a block that is only shown:

```yaml
rules: []
```

```csv title="data/people.csv"
name,age
Ann,30
```

```console
$ cat data/people.csv
name,age
...
$ grep -c nobody \\
      data/people.csv
0
exit code 1
```

The end.
"""


def test_a_page_is_texts_files_and_commands_in_order() -> None:
    words, file, first, second, end = steps(PAGE)
    assert isinstance(words, Text)
    assert "rules: []" in words.markdown
    assert isinstance(file, NewFile)
    assert (file.place, file.content) == ("data/people.csv", "name,age\nAnn,30\n")
    assert first == Command("cat data/people.csv", "name,age\n...\n", 0)
    assert isinstance(second, Command)
    assert (second.answers, second.code) == ("0\n", 1)
    assert second.typed.startswith("grep -c nobody \\\n")
    assert end == Text("The end.")


def test_what_it_says_is_done_in_its_folder(tmp_path: Path) -> None:
    walk = Walk(tmp_path)
    for step in steps(PAGE):
        if isinstance(step, NewFile):
            walk.write(step)
        elif isinstance(step, Command):
            came, code = walk.run(step)
            assert code == step.code
            assert not differs(step, came)
    assert (tmp_path / "data" / "people.csv").is_file()


def test_folder_and_settings_stay_for_the_commands_that_follow(tmp_path: Path) -> None:
    walk = Walk(tmp_path)
    (tmp_path / "panel").mkdir()
    for typed in ("cd panel", "export WHERE='some place' HOW=well"):
        assert walk.run(Command(typed, "", 0)) == ("", 0)
    assert walk.run(Command('echo "$WHERE, $HOW"; pwd', "", 0)) == (f"some place, well\n{tmp_path / 'panel'}\n", 0)


def test_nobodys_workspace_is_touched_and_this_python_is_meant(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SLUICE_HOME", "/srv/sluice/home")
    monkeypatch.setenv("PREFECT_API_URL", "http://127.0.0.1:9/api")
    walk = Walk(tmp_path)
    assert walk.run(Command('echo "[$SLUICE_HOME$PREFECT_API_URL]"', "", 0)) == ("[]\n", 0)
    assert walk.run(Command('python -c "import sys; print(sys.executable)"', "", 0)) == (f"{sys.executable}\n", 0)


def test_id_is_the_release_that_waited_last_and_name_id_that_of_a_definition(tmp_path: Path) -> None:
    walk = Walk(tmp_path)
    first, second = "women-noise-00112233aabb", "women-aabbccddeeff"
    answer = f"{first} was checked; nobody is asked.\n{second} is pending review.\n"
    assert walk.named("sluice review ID") == "sluice review ID"
    walk.run(Command(f"printf '%s' {shlex.quote(answer)}", "", 0))
    assert walk.named("compare women-noise-ID ID") == f"compare {first} {second}"
    assert walk.named("reader/ID/women.csv IDENTITY") == f"reader/{second}/women.csv IDENTITY"
    assert walk.as_named(Command("", "ID is published.\n", 0)).answers == f"{second} is published.\n"


@pytest.mark.parametrize(
    ("shown", "came", "wrong"),
    [
        ("", "anything", False),
        ("Blocked: 5 of ...\n", "Blocked: 5 of\n  7 women\n", False),
        ("Blocked: 5 of ...\n", "Blocked: 6 of 7 women\n", True),
        ("Blocked\n...\n", "Blocked\n", False),
        ("Blocked\n", "Blocked\nand more\n", True),
        ("done\n", "", True),
    ],
)
def test_an_answer_that_is_not_the_pages_is_noticed(shown: str, came: str, wrong: bool) -> None:
    assert differs(Command("sluice", shown, 0), came) is wrong


def test_a_terminal_gets_words_for_pictures_and_links() -> None:
    assert without_pictures("![The map](pictures/map.svg), [methods](methods.md)") == "The map, methods"
