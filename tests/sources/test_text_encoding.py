"""Encodings of real place names: those of the West are found, those that could be others are asked for."""

import gzip
from pathlib import Path

import pytest

from sluice.ground.errors import DataError
from sluice.sources.text_encoding import encoding_of
from tests.golden import golden

PLACES = {
    "French": ["Nîmes", "Orléans", "Besançon", "Évry", "Mâcon", "Hélène Lefèvre", "Cœuvres-et-Valsery"],
    "German": ["München", "Köln", "Düsseldorf", "Gießen", "Übersee", "Groß-Gerau"],
    "Portuguese of the south": ["Camões", "Tábua", "Loulé", "Covilhã", "Magalhães"],
    "Portuguese": ["São João", "Évora", "Guimarães", "Portimão", "Camões", "Açores"],
    "Spanish": ["A Coruña", "Málaga", "Cádiz", "Alcalá", "Güímar"],
    "Danish": ["Århus", "København", "Ærø", "Sønderborg"],
    "Italian": ["Forlì", "Cantù", "Città di Castello", "L'Aquila"],
    "Polish": ["Łódź", "Gdańsk", "Kraków", "Poznań", "Wrocław", "Częstochowa"],
    "Czech": ["Plzeň", "Ústí nad Labem", "České Budějovice", "Třebíč", "Kroměříž"],
    "Croatian": ["Šibenik", "Požega", "Čakovec", "Poreč", "Đakovo", "Bjelovar-Križić"],
    "Hungarian": ["Győr", "Szentlőrinc", "Székesfehérvár", "Gödöllő", "Nyíregyháza"],
    "Romanian": ["Brăila", "Timişoara", "Buzău", "Piteşti"],
    "Moldovan": ["Hânceştii noi", "Făleşti", "Râşcani"],
    "Romanian words": ["engleză", "coptă", "uzbecă", "germană", "franceză"],
    "Estonian": ["Pärnu", "Võru", "Põltsamaa", "Tšehhi", "Šveits"],
    "Latvian": ["Rīga", "Liepāja", "Jūrmala", "Šķēde", "Mežotne"],
    "Lithuanian": ["Šiauliai", "Panevėžys", "Utena", "Alytaus aps.", "bafutų"],
    "Chinese": ["北京", "上海"],
    "Peking": ["北京"],
    "Turkish": ["İstanbul", "Eskişehir", "Muğla", "Çanakkale", "Diyarbakır"],
    "Russian": ["Москва", "Тверь", "Казань"],
    "Greek": ["Αθήνα", "Πάτρα", "Βόλος"],
}


def written(folder: Path, language: str, encoding: str, packed: bool = False) -> Path:
    text = "code;place\n" + "".join(f"{n:04d};{name}\n" for n, name in enumerate(PLACES[language] * 3))
    path = folder / "a.csv"
    path.write_bytes(gzip.compress(text.encode(encoding)) if packed else text.encode(encoding))
    return path


@pytest.mark.parametrize("language", PLACES)
def test_unicode_proves_itself(tmp_path: Path, language: str) -> None:
    for encoding, found in (("utf-8", "utf-8"), ("utf-8-sig", "utf-8"), ("utf-16", "utf-16")):
        assert encoding_of(written(tmp_path, language, encoding)) == found
    assert encoding_of(written(tmp_path, language, "utf-8", packed=True)) == "utf-8"


@pytest.mark.parametrize(
    "language", ["French", "German", "Portuguese", "Portuguese of the south", "Spanish", "Danish", "Italian"]
)
def test_western_texts_are_found(tmp_path: Path, language: str) -> None:
    assert encoding_of(written(tmp_path, language, "cp1252")) == "cp1252"


@pytest.mark.parametrize(
    ("language", "encoding"),
    [
        *((language, "cp1250") for language in ("Polish", "Czech", "Croatian", "Hungarian")),
        *((language, "iso8859-2") for language in ("Polish", "Czech", "Croatian", "Hungarian")),
        *((language, "cp1250") for language in ("Romanian", "Moldovan", "Romanian words")),
        *((language, "cp1257") for language in ("Estonian", "Latvian", "Lithuanian")),
        ("Chinese", "gb18030"), ("Peking", "gb18030"),
        ("Turkish", "cp1254"), ("Russian", "cp1251"), ("Russian", "koi8-r"), ("Greek", "cp1253"),
        ("German", "cp850"), ("Danish", "cp850"), ("German", "mac_roman"), ("French", "mac_roman"),
        ("Danish", "mac_roman"), ("Spanish", "cp850"),
    ],
)  # fmt: skip
def test_what_may_be_another_is_asked_for(tmp_path: Path, language: str, encoding: str) -> None:
    with golden.raises(DataError):
        encoding_of(written(tmp_path, language, encoding))


def test_utf_16_without_a_mark(tmp_path: Path) -> None:
    for encoding in ("utf-16-le", "utf-16-be"):
        assert encoding_of(written(tmp_path, "German", encoding)) == encoding


def test_the_last_byte_counts(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes(b"place\n" + b"Bern\n" * 500_000 + "Genève\n".encode("latin-1"))
    assert encoding_of(path) == "cp1252"  # next month's file may hold a dash or a euro
    path.write_bytes(b"place\n" + b"Bern\n" * 500_000 + "Genè".encode()[:-1])
    with golden.raises(DataError):
        encoding_of(path)
    path.write_bytes(b"place\n" + b"Bern\n" * 500_000 + b"\0")
    with golden.raises(DataError):
        encoding_of(path)


def test_a_file_of_two_encodings_is_no_western_one(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes("place\nMünchen\nGenève\n".encode() + "Orléans\n".encode("latin-1"))
    with golden.raises(DataError):
        encoding_of(path)


def test_units_are_no_polish(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes("n;unit\n1;m³\n2;m²\n3;25 °C\n4;½ l\n5;§ 16\n6;5 €\n".encode("cp1252"))
    assert encoding_of(path) == "cp1252"


@pytest.mark.parametrize("mark", ["ÿþ", "þÿ"])
def test_western_letters_that_are_the_bytes_of_a_mark_make_no_utf_16(tmp_path: Path, mark: str) -> None:
    path = tmp_path / "file.csv"
    path.write_bytes(f"{mark};age\nMüller;3\n".encode("latin-1"))
    assert encoding_of(path) == "cp1252"
    path.write_bytes("\ufeffname;age\r\n山;3\r\n".encode("utf-16-le" if mark == "ÿþ" else "utf-16-be"))
    assert encoding_of(path) == "utf-16"
