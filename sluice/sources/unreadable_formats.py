"""Formats that are not read: each by its first bytes, with what to do instead."""

from collections.abc import Mapping

_EXPORT = "save the table as CSV, Excel (.xlsx) or Parquet in the program that wrote it"
_FROM_R = "in R: haven::write_dta(x, 'file.dta'), or arrow::write_parquet(x, 'file.parquet')"
_PICTURE = "it holds no records"

SIGNATURES: Mapping[bytes, tuple[str, str]] = {
    b"%PDF": ("a PDF document", _EXPORT),
    b"{\\rtf": ("an RTF document", _EXPORT),
    b"RDX2\n": ("an R workspace (.RData, .rda)", _FROM_R),
    b"RDX3\n": ("an R workspace (.RData, .rda)", _FROM_R),
    b"RDA2\n": ("an R workspace (.RData, .rda)", _FROM_R),
    b"RDA3\n": ("an R workspace (.RData, .rda)", _FROM_R),
    b"X\n\0\0\0": ("an R object (.rds)", _FROM_R),
    b"A\n2\n": ("an R object (.rds)", _FROM_R),
    b"A\n3\n": ("an R object (.rds)", _FROM_R),
    b"\x1c\0\0\0\0\0\0\0ENCRYPTEDSAV": ("an SPSS file with a password", "save it without one in SPSS"),
    b"**COMPRESSED** **COMPRESSED**": ("a SAS transport file of PROC CPORT", "write it with PROC COPY or as .sas7bdat"),
    b"PARE": ("an encrypted Parquet file", "write it without encryption"),
    b"FEA1": ("a Feather file of version 1", "write it as version 2 (Arrow) or Parquet"),
    b"\x89HDF\r\n": ("an HDF5 file", _EXPORT),
    b"MATLAB 5.0": ("a MATLAB file", "in MATLAB: writetable, or parquetwrite"),
    b"\x93NUMPY": ("a NumPy array", "write it as Parquet or CSV with the names of the columns"),
    b"\0\1\0\0Standard Jet DB": ("an Access database", "export the table as CSV or Excel"),
    b"\0\1\0\0Standard ACE DB": ("an Access database", "export the table as CSV or Excel"),
    b"ORC": ("an ORC file", "write it as Parquet"),
    b"Obj\x01": ("an Avro file", "write it as Parquet"),
    b"BZh": ("packed by bzip2", "unpack it, or use gzip or zip"),
    b"\xfd7zXZ\0": ("packed by xz", "unpack it, or use gzip or zip"),
    b"(\xb5/\xfd": ("packed by Zstandard", "unpack it, or use gzip or zip"),
    b"7z\xbc\xaf'\x1c": ("a 7-Zip archive", "unpack it, or use gzip or zip"),
    b"Rar!": ("a RAR archive", "unpack it, or use gzip or zip"),
    b"\x89PNG": ("a picture (PNG)", _PICTURE),
    b"\xff\xd8\xff": ("a picture (JPEG)", _PICTURE),
    b"GIF8": ("a picture (GIF)", _PICTURE),
    b"II*\0": ("a picture (TIFF)", _PICTURE),
    b"MM\0*": ("a picture (TIFF)", _PICTURE),
    b"RIFF": ("a sound, film or picture", _PICTURE),
    b"\x7fELF": ("a program", _PICTURE),
    b"MZ\x90": ("a program", _PICTURE),
    b"\xff\xfe\0\0": ("text in UTF-32", "write it as UTF-8"),
    b"\0\0\xfe\xff": ("text in UTF-32", "write it as UTF-8"),
}
PICKLE = ("a Python pickle, which runs code when it is read", "write it with DataFrame.to_parquet")
OLD_EXCEL = ("an Excel workbook of the old format (.xls)", "save it as .xlsx in Excel")
WITH_PASSWORD = ("an Office document with a password", "save it without one, where it may lie in the clear")
OLD_OFFICE = ("an Office document of an old format", _EXPORT)
TAR = ("a tar archive", "unpack it and name the file")
IN_ARCHIVE: Mapping[str, tuple[str, str]] = {
    "word/": ("a Word document", _EXPORT),
    "ppt/": ("a PowerPoint document", _EXPORT),
    "xl/workbook.bin": ("an Excel workbook in binary form (.xlsb)", "save it as .xlsx in Excel"),
    "content.xml": ("an OpenDocument file (.ods, .odt)", "save it as .xlsx"),
    "Index/Document.iwa": ("an iWork document", "export it as .xlsx"),
}
OF_TEXT: Mapping[str, tuple[str, str]] = {
    "<!doctype html": ("a web page", "download the file itself, not the page about it"),
    "<html": ("a web page", "download the file itself, not the page about it"),
    "<?xml": ("an XML document", _EXPORT),
    "{": ("JSON", "write it as CSV or Parquet"),
    "[{": ("JSON", "write it as CSV or Parquet"),
    "[": ("JSON, or another notation in brackets", "write it as CSV or Parquet"),
    "-----begin": ("an encrypted or signed text", "decrypt it where it may lie in the clear"),
    "@relation": ("an ARFF file", "write it as CSV"),
}


def unreadable(start: bytes) -> tuple[str, str] | None:
    """The name of the format whose files begin with these bytes and are not read, and a hint; None for others."""
    for signature, found in SIGNATURES.items():
        if start.startswith(signature):
            return found
    if start[:1] == b"\x80" and start[1:2] in (b"\2", b"\3", b"\4", b"\5"):
        return PICKLE
    if start[257:262] == b"ustar":
        return TAR
    if start.startswith(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"):
        return OLD_OFFICE
    return None
