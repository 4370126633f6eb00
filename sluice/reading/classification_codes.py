"""Codes of classifications that statisticians share: activities, occupations, diagnoses, regions, countries.

By their shape alone only what nothing else looks like is recognised. Where numbers look the same, as 6201 and 10.11 do,
the column's name must say it, too. Sources: NACE Rev. 2 (Eurostat 2008), ISIC Rev. 4, ISCO-08, ICD-9 and ICD-10, NUTS
2024, ISO 3166-1.
"""

import re
from collections.abc import Collection

COUNTRIES = "ISO 3166"
_ENOUGH = 3  # different codes that must have the shape, where no name says what they are
_CHAPTERS = 3  # different letters in front of diagnoses: R01 to R12 are regions, strata, tariffs

_DIVISIONS = "0[1-35-9]|[1-35-9][0-9]|4[1-35-79]"
_BY_NAME = (
    (
        "NACE or ISIC",
        rf"[A-U]|[A-U]?[ .]?({_DIVISIONS})(\.?[0-9](\.?[0-9]){{0,2}})?",
        "nace isic sic industry activity branch branche wirtschaftszweig wz naf ateco cnae noga oenace",
    ),
    ("NAICS", "[1-9][0-9]{1,5}|[0-9]{2}-[0-9]{2}", "naics"),
    ("ISCO", "[0-9]{1,4}", "isco occupation occup beruf profession kldb soc"),
    (
        "ICD",
        r"[A-Z][0-9]{2}(\.?[0-9A-Z]{1,4})?[-*+!]?|[0-9]{3}(\.[0-9]{1,2})?|E[0-9]{3}(\.[0-9])?",
        "icd diagnosis diagnose diag dx cause",
    ),
    ("NUTS or LAU", "[A-Z]{2}[A-Z0-9]{0,3}|[0-9]{4,12}", "nuts lau ags municipality gemeinde commune"),
    (
        COUNTRIES,
        "[A-Z]{2}|[A-Z]{3}|[0-9]{3}",
        "country land pays pais paese nationality nationalite citizenship citizen iso cob birthplace",
    ),
    ("postal code", "[0-9]{4,6}|[0-9]{5}-[0-9]{4}", "postcode zip zipcode plz postal cap"),
)

_NUTS = (
    "AL|AT|BA|BE|BG|CH|CY|CZ|DE|DK|EE|EL|ES|FI|FR|HR|HU|IE|IS|IT|LI|LT|LU|LV|ME|MK|MT|NL|NO|PL|PT|RO|RS|SE|SI|SK|TR|UK"
)
_AMOUNTS = {
    "age", "income", "pay", "wage", "salary", "hours", "years", "year", "number", "count", "share", "size", "turnover",
    "amount", "weight",
}  # fmt: skip
_PLACES = {
    "region", "area", "district", "zone", "ward", "block", "tract", "stratum", "strata", "cluster", "psu", "site",
    "school", "class", "room", "department", "division", "unit", "group", "tariff", "plan",
    "bezirk", "gebiet", "zona", "bloque",
}  # fmt: skip
"""Words of names whose codes only look like diagnoses or activities: R01, B12."""

_SECTIONS = {
    "A": (1, 3), "B": (5, 9), "C": (10, 33), "D": (35, 35), "E": (36, 39), "F": (41, 43), "G": (45, 47), "H": (49, 53),
    "I": (55, 56), "J": (58, 63), "K": (64, 66), "L": (68, 68), "M": (69, 75), "N": (77, 82), "O": (84, 84),
    "P": (85, 85), "Q": (86, 88), "R": (90, 93), "S": (94, 96), "T": (97, 98), "U": (99, 99),
}  # fmt: skip
_COUNTRIES = frozenset(
    """
    ABW AFG AGO AIA ALA ALB AND ARE ARG ARM ASM ATA ATF ATG AUS AUT AZE BDI BEL BEN BES BFA BGD BGR BHR BHS BIH BLM
    BLR BLZ BMU BOL BRA BRB BRN BTN BVT BWA CAF CAN CCK CHE CHL CHN CIV CMR COD COG COK COL COM CPV CRI CUB CUW CXR
    CYM CYP CZE DEU DJI DMA DNK DOM DZA ECU EGY ERI ESH ESP EST ETH FIN FJI FLK FRA FRO FSM GAB GBR GEO GGY GHA GIB
    GIN GLP GMB GNB GNQ GRC GRD GRL GTM GUF GUM GUY HKG HMD HND HRV HTI HUN IDN IMN IND IOT IRL IRN IRQ ISL ISR ITA
    JAM JEY JOR JPN KAZ KEN KGZ KHM KIR KNA KOR KWT LAO LBN LBR LBY LCA LIE LKA LSO LTU LUX LVA MAC MAF MAR MCO MDA
    MDG MDV MEX MHL MKD MLI MLT MMR MNE MNG MNP MOZ MRT MSR MTQ MUS MWI MYS MYT NAM NCL NER NFK NGA NIC NIU NLD NOR
    NPL NRU NZL OMN PAK PAN PCN PER PHL PLW PNG POL PRI PRK PRT PRY PSE PYF QAT REU ROU RUS RWA SAU SDN SEN SGP SGS
    SHN SJM SLB SLE SLV SMR SOM SPM SRB SSD STP SUR SVK SVN SWE SWZ SXM SYC SYR TCA TCD TGO THA TJK TKL TKM TLS TON
    TTO TUN TUR TUV TWN TZA UGA UKR UMI URY USA UZB VAT VCT VEN VGB VIR VNM VUT WLF WSM YEM ZAF ZMB ZWE
    """.split()  # noqa: SIM905
)


def classification_of(name: str, codes: Collection[str]) -> str | None:
    """The classification that a column holds codes of; None where it seems to be none.

    name  : of the column, whose words may name it: nace_rev2, ISCO08, icd10
    codes : all different values that are not missing
    """
    if not codes:
        return None
    words = {word.lower().rstrip("0123456789") for word in re.split(r"[\W_]+|(?<=[a-z])(?=[A-Z])", name)}
    for called, shape, names in _BY_NAME:
        if not words.isdisjoint(names.split()) and not words & _AMOUNTS and _all(shape, codes):
            return called
    return _by_shape(words, codes) if len(codes) >= _ENOUGH else None


def _by_shape(words: set[str], codes: Collection[str]) -> str | None:
    if _all(rf"({_NUTS})[A-Z0-9]{{1,3}}", codes) and any(re.search("[0-9]", code) for code in codes):
        return "NUTS"
    if not words & _PLACES:
        if _all(r"[A-U][0-9]{2}(\.?[0-9]{1,2})?", codes) and all(_is_activity(code) for code in codes):
            return "NACE or ISIC"
        various = len({code[0] for code in codes}) >= _CHAPTERS or any("." in code for code in codes)
        if various and _all(r"[A-Z][0-9]{2}(\.[0-9]{1,2}[A-Z]?)?", codes):
            return "ICD"
    return COUNTRIES if all(code in _COUNTRIES for code in codes) else None


def _is_activity(code: str) -> bool:
    """Whether the division belongs to the section whose letter stands before it."""
    first, last = _SECTIONS[code[0]]
    return first <= int(code[1:3]) <= last


def _all(shape: str, codes: Collection[str]) -> bool:
    form = re.compile(shape)
    return all(form.fullmatch(code) for code in codes)
