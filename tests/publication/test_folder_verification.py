"""What outsiders verify: whoever changes, adds or swaps anything is found out, even with the publisher's key."""

import os
import shutil
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from hypothesis import given
from hypothesis import strategies as st

from policies.approvals import Subject
from sluice.custody.shelf import CHECKSUMS
from sluice.custody.signing.allowed_signers import AllowedSigner
from sluice.custody.signing.envelope import Envelope
from sluice.ground.errors import SluiceError
from sluice.publication.attestation import digest_of, read_certificates, request_stamp
from sluice.publication.folder_verification import verify_folder
from tests.golden import golden
from tests.publication.signed_folder import (
    AMARA,
    JONAS,
    PUBLISHING,
    RELEASE,
    SIGNERS,
    STRANGER,
    Change,
    Publication,
    nothing,
    sha256,
    write_checksums,
)
from tests.publication.timestamp_authority import Authority


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return Publication().put(tmp_path / "shelf")


def problems(folder: Path, **options: Any) -> list[str]:
    return verify_folder(folder, options.pop("signers", SIGNERS), **options).problems


def test_what_was_signed_is_believed(folder: Path) -> None:
    found = verify_folder(folder, SIGNERS, people=2)
    assert found.problems == []
    assert found.signed_by == ["Amara Diallo", "jonas"]
    assert found.files == {file: sha256(content) for file, content in Publication().data.items()}
    assert found.summary is not None
    golden(found.summary.says)
    assert str(digest_of(Publication().reviewed)) in found.summary.says


def test_waivers_are_told(tmp_path: Path) -> None:
    found = verify_folder(Publication(waived=("k_anonymity", "linkage")).put(tmp_path), SIGNERS)
    assert found.problems == []
    assert found.summary is not None
    golden(found.summary.says)


def test_the_digest_is_the_one_that_people_approve() -> None:
    reviewed = Publication().reviewed
    assert digest_of(reviewed) == Subject(**reviewed).digest()
    assert digest_of({**reviewed, "csv": None}) == Subject(**{**reviewed, "csv": None}).digest()


def _append(file: str) -> Callable[[Path], object]:
    return lambda folder: (folder / file).write_bytes((folder / file).read_bytes() + b" ")


def _remove(file: str) -> Callable[[Path], object]:
    return lambda folder: (folder / file).unlink()


def _link(folder: Path) -> None:
    (folder / "fair.csv").symlink_to((folder / "fair.csv").rename(folder.parent / "aside"))


def _pipe(folder: Path) -> None:
    (folder / "fair.csv").unlink()
    os.mkfifo(folder / "fair.csv")


def _folder_in_place(folder: Path) -> None:
    (folder / "fair.csv").unlink()
    (folder / "fair.csv").mkdir()


def _in_manifest(folder: Path) -> None:
    """The data, the manifest that lists them, and the checksums."""
    before = sha256((folder / "fair.csv").read_bytes())
    (folder / "fair.csv").write_bytes(b"age,income\n30,3\n")
    manifest = folder / "manifest.json"
    manifest.write_text(manifest.read_text().replace(before, sha256(b"age,income\n30,3\n")))


WITHOUT_KEYS: dict[str, Callable[[Path], object]] = {
    **{f"{file} altered": _append(file) for file in ("fair.csv", "fair.parquet", "datapackage.json", "manifest.json")},
    **{f"{file} removed": _remove(file) for file in ("fair.csv", "datapackage.json", "decision-1.json")},
    "a file added": lambda folder: (folder / "more.csv").write_text("age\n"),
    "a hidden file added": lambda folder: (folder / ".more").write_text("age\n"),
    "a file with another script's letter": lambda folder: (folder / "fa\u0456r.csv").write_text("age\n"),
    "a file whose name turns around": lambda folder: (folder / "fair\u202evsc.exe").write_text("age\n"),
    "a file whose name is no text": lambda folder: Path(os.fsdecode(os.fsencode(folder) + b"/\xff\n.csv")).touch(),
    "a folder added": lambda folder: (folder / "more").mkdir(),
    "a link in the place of a file": _link,
    "a pipe in the place of a file": _pipe,
    "a folder in the place of a file": _folder_in_place,
    "data and manifest altered together": _in_manifest,
}


@pytest.mark.parametrize("fitted", [False, True], ids=["", "checksums fitted"])
@pytest.mark.parametrize("attack", WITHOUT_KEYS)
def test_whoever_has_no_key_is_found_out(folder: Path, attack: str, fitted: bool) -> None:
    WITHOUT_KEYS[attack](folder)
    if fitted:
        listed = [path for path in folder.iterdir() if path.is_file() and path.name.isascii() and path.name[0] != "."]
        (folder / CHECKSUMS).write_text(
            "".join(f"{sha256(path.read_bytes())}  {path.name}\n" for path in sorted(listed) if path.name != CHECKSUMS)
        )
    assert problems(folder) != []


def test_another_release_does_not_pass_by_a_link(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Who can write to a shelf puts a link to another release, or an earlier edition, in the place of one."""
    link = folder.with_name("fair-aaaaaaaaaaaa")
    link.symlink_to(folder.name)
    golden(problems(link))
    named, elsewhere = folder.with_name("shelf-2026") / RELEASE, folder.rename(folder.with_name("stored"))
    named.parent.mkdir()
    named.symlink_to(elsewhere)
    assert problems(named) == []
    monkeypatch.chdir(named.parent)
    assert problems(Path(RELEASE)) == problems(named.parent / "." / RELEASE / "") == []


def test_what_was_added_and_altered_is_named(folder: Path) -> None:
    (folder / "fair.csv").write_text("age\n")
    (folder / "more.csv").write_text("age\n")
    golden(problems(folder))
    write_checksums(folder)
    golden(problems(folder))


@pytest.mark.parametrize(
    "change",
    [
        lambda text: text.replace("\n", "\r\n"),
        lambda text: text.removesuffix("\n"),
        lambda text: text + "\n",
        lambda text: "\ufeff" + text,
        lambda text: text.upper(),
        lambda text: text.replace("  ", " *"),
        lambda text: text.replace("  ", "\t"),
        lambda text: text + text.splitlines(keepends=True)[0],
        lambda text: text + f"{'0' * 64}  fair.csv\n",
        lambda text: text + f"{'0' * 64}  ../fair.csv\n",
        lambda text: text + f"{'0' * 64}  /etc/passwd\n",
        lambda text: text + f"{'0' * 64}  ./fair.csv\n",
        lambda text: text + f"{'0' * 64}  {CHECKSUMS}\n",
        lambda text: text + f"{'0' * 64}  fair\u2028.csv\n",
        lambda text: text + f"\\{'0' * 64}  fair\\n.csv\n",
        lambda text: text.replace("fair.csv", "fair.csv\u2028"),
        lambda text: "",
    ],
)
def test_checksums_that_can_be_read_in_two_ways_are_refused(folder: Path, change: Callable[[str], str]) -> None:
    checksums = folder / CHECKSUMS
    checksums.write_bytes(change(checksums.read_text()).encode())
    assert problems(folder) != []


@given(st.data())
def test_no_byte_of_what_is_signed_or_published_can_be_changed(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    """Not a single one, in any file; the checksums are made to fit."""
    folder = Publication().put(tmp_path_factory.mktemp("shelf"))
    file = data.draw(st.sampled_from(sorted(path.name for path in folder.iterdir() if path.name != CHECKSUMS)))
    content = bytearray((folder / file).read_bytes())
    content[data.draw(st.integers(0, len(content) - 1))] ^= data.draw(st.integers(1, 255))
    (folder / file).write_bytes(content)
    assert problems(folder) != []
    write_checksums(folder)
    if file == "attestation.json":  # blanks between its fields, say, are no part of what is signed
        with suppress(SluiceError):
            signed = Envelope.from_json((Publication().put(tmp_path_factory.mktemp("as-signed")) / file).read_bytes())
            if Envelope.from_json(bytes(content)).content == signed.content:
                return
    assert problems(folder) != []


def test_another_release_does_not_pass_in_its_place(tmp_path: Path) -> None:
    folder = Publication().put(tmp_path / "shelf")
    older = Publication(release="fair-000000000000").put(tmp_path / "shelf")
    shutil.rmtree(folder)
    shutil.copytree(older, folder)
    golden(problems(folder))
    assert problems(folder, release="fair-000000000000") == []
    elsewhere = folder.rename(tmp_path / "download (1)")
    assert problems(elsewhere, release="fair-000000000000") == []
    golden(problems(elsewhere))


def test_two_folders_of_one_name_are_told_apart(tmp_path: Path) -> None:
    """Each part of one, put into the other."""
    first = Publication().put(tmp_path / "first")
    for file in [path.name for path in first.iterdir()]:
        second = Publication(content=b"age,income\n30,9\n").put(tmp_path / file)
        if (first / file).read_bytes() == (second / file).read_bytes():
            continue
        shutil.copy(first / file, second / file)
        assert problems(second) != []
        write_checksums(second)
        assert problems(second) != [] or file == CHECKSUMS


def _said(**changes: Any) -> Callable[[dict[str, Any]], object]:
    return lambda said: said.update(changes)


def decided_by(key: Ed25519PrivateKey, change: Change = nothing) -> Publication:
    """By Amara, and by another key on what is changed so."""
    return Publication(deciders=((AMARA, nothing), (key, change)))


BEFORE = Publication(release="fair-aaaaaaaaaaaa", content=b"age,income\n29,3\n")
LIMITS = {"days": 1, "editions": 12}
OF_THE_SERIES = _said(release=BEFORE.release, subject=digest_of(BEFORE.reviewed), series=LIMITS)


def in_series(change: Change = OF_THE_SERIES, **reviewed: str) -> Publication:
    """An edition that was published by the decisions on an earlier one."""
    series = {"release": BEFORE.release, "reviewed": BEFORE.reviewed | reviewed}
    return Publication(
        decided_on=BEFORE.content,
        deciders=((AMARA, OF_THE_SERIES), (JONAS, change)),
        manifest=_said(series=BEFORE.release),
        summary=_said(series=series),
    )


def test_an_edition_is_verified_by_the_decisions_on_its_series(tmp_path: Path) -> None:
    folder = in_series().put(tmp_path / "shelf")
    found = verify_folder(folder, SIGNERS, people=2)
    assert (found.problems, found.signed_by) == ([], ["Amara Diallo", "jonas"])
    assert found.summary is not None
    golden(found.summary.says)
    assert str(BEFORE.release) in found.summary.says


def test_who_left_approves_no_further_edition(tmp_path: Path) -> None:
    """With the publisher's key, by what somebody signed who is no longer there; single decisions count for ever."""
    left = [
        replace(each, before=datetime(2026, 11, 20, 12, tzinfo=UTC)) for each in SIGNERS if each.names == ("jonas",)
    ]
    signers = [*SIGNERS[:2], *left]
    assert verify_folder(Publication().put(tmp_path / "single"), signers, people=2).problems == []
    golden(verify_folder(in_series().put(tmp_path / "series"), signers).problems[0])
    assert "2026-11-21" in verify_folder(in_series().put(tmp_path / "series"), signers).problems[0]


WITH_THE_PUBLISHERS_KEY = {
    "a series that was approved as a single edition": in_series(
        _said(release=BEFORE.release, subject=digest_of(BEFORE.reviewed))
    ),
    "a series of another release": in_series(
        _said(release="fair-bbbbbbbbbbbb", subject=digest_of(BEFORE.reviewed), series=LIMITS)
    ),
    "a series that had ended": in_series(
        _said(release=BEFORE.release, subject=digest_of(BEFORE.reviewed), series=LIMITS | {"days": 0})
    ),
    "a series under another policy": in_series(policy="0" * 64),
    "a series by another plan": in_series(plan="0" * 64),
    "what was reviewed of the series, to fit": in_series(dossier="0" * 64),
    "a series that the manifest hides": replace(in_series(), manifest=nothing),
    "other data under the people's decisions": Publication(
        content=b"age,income\n30,9\n", decided_on=Publication().content
    ),
    "no decisions": Publication(deciders=()),
    "one decision": Publication(deciders=((AMARA, nothing),)),
    "nobody named": Publication(deciders=(), manifest=lambda manifest: manifest.update(approvals=[])),
    "a decision by a stranger": decided_by(STRANGER),
    "a decision by the publisher": decided_by(PUBLISHING),
    "one person twice": decided_by(AMARA),
    "a decision on another release": decided_by(JONAS, _said(release="fair-000000000000")),
    "a rejection": decided_by(JONAS, _said(decision="reject")),
    "a decision of a later time": decided_by(JONAS, _said(at="2026-11-21T06:00:00+00:00")),
    "a decision without a zone": decided_by(JONAS, _said(at="2026-11-20T06:00:00")),
    "a manifest that says another thing": Publication(manifest=_said(release="fair-000000000000", verdict="FAIL")),
    "a manifest that hides a person": Publication(
        manifest=lambda manifest: manifest.update(approvals=manifest["approvals"][:1])
    ),
    "a waiver that is not told": Publication(waived=("k_anonymity",), summary=_said(waived=[])),
    "a manifest without findings": Publication(manifest=lambda manifest: manifest.pop("findings")),
    "a manifest with other files": Publication(manifest=lambda manifest: manifest["files"].pop()),
    "a manifest without files": Publication(manifest=lambda manifest: manifest.pop("files")),
    "another policy": Publication(summary=lambda summary: summary["policy"].update(sha256="0" * 64)),
    "another digest": Publication(summary=_said(digest="0" * 64)),
    "a file that nobody signed": Publication(attested=lambda files: files.pop("datapackage.json")),
    "a file that is missing": Publication(attested=_said(**{"more.csv": "0" * 64})),
    "another verdict": Publication(summary=_said(verdict="FAIL")),
    "a summary with more": Publication(summary=_said(more=1)),
    "a summary without a time": Publication(summary=_said(at="soon")),
    "a person's key in the publisher's place": Publication(publisher=AMARA),
}


@pytest.mark.parametrize("attack", WITH_THE_PUBLISHERS_KEY)
def test_whoever_has_the_publishers_key_cannot_make_up_decisions_nor_contradict_himself(
    tmp_path: Path, attack: str
) -> None:
    found = problems(WITH_THE_PUBLISHERS_KEY[attack].put(tmp_path / "shelf"))
    assert found
    golden(found)


def test_how_many_people_must_have_signed_is_for_the_reader_to_say(tmp_path: Path) -> None:
    folder = Publication(deciders=()).put(tmp_path / "none")
    assert problems(folder, unsigned=True) == []
    assert len(problems(folder)) == 2
    one = Publication(
        deciders=((AMARA, nothing),), manifest=lambda manifest: manifest.update(approvals=manifest["approvals"][:1])
    ).put(tmp_path / "one")
    assert problems(one) == []
    golden(problems(one, people=2))
    golden(problems(folder, unsigned=True, people=1))


def test_a_key_counts_within_its_time(folder: Path) -> None:
    """By the time that was signed; who has a stolen key can date it back, so a stolen key is taken off the list."""
    publisher, amara, jonas = SIGNERS
    ended = replace(amara, before=datetime(2026, 11, 20, tzinfo=UTC))
    begins = replace(publisher, after=datetime(2026, 11, 22, tzinfo=UTC))
    holds = replace(jonas, after=datetime(2026, 11, 20, 9, tzinfo=UTC), before=datetime(2026, 11, 21, tzinfo=UTC))
    assert problems(folder, signers=[publisher, amara, holds]) == []
    golden(problems(folder, signers=[publisher, ended, jonas])[0])
    assert "2026-11-20" in problems(folder, signers=[publisher, ended, jonas])[0]
    golden(problems(folder, signers=[begins, amara, jonas]))
    assert problems(folder, signers=[publisher, jonas])[0].startswith("decision-1.json: no key of")
    golden(problems(folder, signers=[]))
    both = AllowedSigner(("Amara-Diallo", "jonas"), amara.key)
    golden([each for each in problems(folder, signers=[publisher, both]) if "jonas" in each])


@pytest.mark.parametrize("file", ["attestation.json", "decision-1.json", "manifest.json"])
@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{}",
        b"[" * 100_000,
        b"\xff\xfe",
        b'{"release": NaN}',
        lambda before: before.replace(b"{", b'{"payload": "", "release": "x", ', 1),
        lambda before: before.replace(b"{", b'{"more": 1, ', 1),
    ],
)
def test_what_is_not_in_its_form_is_refused(folder: Path, file: str, content: Any) -> None:
    path = folder / file
    path.write_bytes(content(path.read_bytes()) if callable(content) else content)
    write_checksums(folder)
    assert problems(folder) != []


@pytest.mark.parametrize("file", ["attestation.json", "decision-1.json", "manifest.json", CHECKSUMS])
def test_a_file_that_is_too_long_is_not_parsed(folder: Path, file: str) -> None:
    os.truncate(folder / file, (16 << 20) + 1)
    assert any(f"{file} is longer than 16 MiB" in problem for problem in problems(folder))


@pytest.mark.parametrize("file", ["attestation.json", "manifest.json", CHECKSUMS])
def test_a_folder_without_what_describes_it_is_refused(folder: Path, file: str) -> None:
    (folder / file).unlink()
    assert f"{file} cannot be read (No such file or directory)" in problems(folder)


def test_a_folder_that_is_not_there_is_said(tmp_path: Path) -> None:
    golden(problems(tmp_path / "nowhere"))
    (tmp_path / "nowhere.withdrawn.txt").write_text("nowhere was withdrawn.", encoding="utf-8")
    golden(problems(tmp_path / "nowhere"))


@pytest.mark.servers
def test_a_stamp_must_be_there_where_it_is_asked_for(folder: Path, tmp_path: Path) -> None:
    """With it, keys are held to the authority's time, not to the time that their holder gives."""
    authority = Authority(tmp_path / "authority")
    certificates = read_certificates(authority.certificates)
    golden(problems(folder, certificates=certificates))
    with authority.serving() as url:
        stamp = request_stamp((folder / "manifest.json").read_bytes(), url, certificates)
        other = request_stamp(b"another", url, certificates)
    for content, says in ((stamp, "manifest.tsr was not signed"), (other, "manifest.tsr is not a time stamp")):
        (folder / "manifest.tsr").write_bytes(content)
        write_checksums(folder)
        assert any(problem.startswith(says) for problem in problems(folder, certificates=certificates))
    (folder / "manifest.tsr").write_bytes(stamp)
    ended = replace(SIGNERS[0], before=datetime(2026, 11, 22, tzinfo=UTC))
    assert any("did not count at" in each for each in problems(folder, signers=[ended], certificates=certificates))
