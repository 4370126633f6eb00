"""Reading a YAML file: what no person would write into a document is refused before anything is made of it."""

import base64
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sluice.documents.document_reading import read_yaml
from sluice.ground.errors import DocumentError
from tests.golden import golden


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    (tmp_path / "policy.yaml").write_text("name: a\n", encoding="utf-8")
    with golden.raises(DocumentError):
        read_yaml(tmp_path / "polcy.yaml")
    with golden.raises(DocumentError):
        read_yaml(tmp_path / "nowhere" / "policy.yaml")


def test_a_folder_is_no_document(tmp_path: Path) -> None:
    with golden.raises(DocumentError):
        read_yaml(tmp_path)


TAGGED = base64.b64encode(b"\x1b[31mApproved").decode()
LAUGHS = "a0: &a0 [x, x]\n" + "".join(f"a{n}: &a{n} [*a{n - 1}, *a{n - 1}]\n" for n in range(1, 30))


@pytest.mark.chain
@pytest.mark.parametrize(
    "content",
    [
        b"a: !!python/object/apply:os.system [id]",
        f"b: 1\na: !!binary {TAGGED}".encode(),  # text that hides itself
        b"a: !!set {x, y}",
        b"a: !own x",
        b"b: &b {x: 1}\na:\n  <<: *b",
        LAUGHS.encode(),
        b"a: &a [*a]",
        b"a: " + b"[" * 2000 + b"]" * 2000,
        b"a: 1\nb: 2\na: 3",
        b"a: 0x" + b"f" * 200,
        b"a: 1" + b":1" * 200,  # base 60: time by its square
        b"a: " + b"9" * 5000,
        b"a: .nan",
        b"a: 1.0e+999",
        b"a: 2024-02-30",
        b"? [x]\n: y",
        b"a: b\0c",
        "a: b".encode("utf-16"),
        b"a: \xff",
        b"a: '" + b"x" * 10_000_000 + b"'",
        b'b: 1\na: "\\e[31m"',
        b'"a\\u202e": b',
        b'a: ["\\x9d0;title\\x07"]',
        b"a: x\xe2\x80\x8by",
    ],
    ids=lambda value: repr(value)[:40],
)
def test_what_no_person_writes_is_refused(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "document.yaml"
    file.write_bytes(content)
    with golden.raises(DocumentError) as refusal:
        read_yaml(file)
    assert str(refusal.value).isprintable()


def test_a_long_list_is_refused_before_it_has_taken_all_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sluice.documents.document_reading._MOST_VALUES", 1000)
    file = tmp_path / "document.yaml"
    file.write_bytes(b"a: [" + b"x, " * 10_000 + b"\xc3\xa9: }")  # nobody reads on to what is wrong at its end
    with golden.raises(DocumentError):
        read_yaml(file)


def test_nothing_is_run(tmp_path: Path) -> None:
    (tmp_path / "document.yaml").write_text(f"a: !!python/object/apply:os.mkdir [{tmp_path / 'made'}]")
    with pytest.raises(DocumentError):
        read_yaml(tmp_path / "document.yaml")
    assert not (tmp_path / "made").exists()


def test_what_editors_write_is_read(tmp_path: Path) -> None:
    file = tmp_path / "document.yaml"
    file.write_bytes(
        "\ufeffa: &x [1, 0.5, yes, 2024-02-29, Zoë]\r\nb: *x\r\nc: !!str 5\r\nd: |\r\n  two\r\n  lines\r\n".encode()
    )
    content = read_yaml(file)
    assert content["a"] == content["b"]
    assert (content["c"], content["d"]) == ("5", "two\nlines\n")


def test_yes_and_no_are_words_and_true_is_true(tmp_path: Path) -> None:
    """Categories leave as a contract spells them, and NO is Norway."""
    (tmp_path / "x.yaml").write_text("a: [Yes, No, on, OFF, NO]\nb: [true, True, FALSE]\nno: {No: none}\n")
    content = read_yaml(tmp_path / "x.yaml")
    assert (content["a"], content["b"]) == (["Yes", "No", "on", "OFF", "NO"], [True, True, False])
    assert content["no"] == {"No": "none"}


@given(st.binary(max_size=60))
def test_any_bytes_are_a_mapping_or_a_refusal(tmp_path_factory: pytest.TempPathFactory, content: bytes) -> None:
    file = tmp_path_factory.getbasetemp() / "any.yaml"
    file.write_bytes(content)
    with suppress(DocumentError):
        assert isinstance(read_yaml(file), dict)
