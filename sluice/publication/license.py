"""The licence of what is published: an SPDX identifier, or the address of the terms.

Source: SPDX License List (Linux Foundation), whose identifiers `packaging` holds. Data Package, Croissant, DCAT-AP, DDI
and Citation File Format each want it in a form of their own.
"""

from urllib.parse import quote, urlsplit

from packaging.licenses import InvalidLicenseExpression, canonicalize_license_expression


def known_license(text: str) -> str:
    """The licence as it is written everywhere: an identifier in SPDX's own case, or an address as it came.

    raises : ValueError for anything else, and for several licences joined by AND, OR or WITH
    """
    if is_address(text) and urlsplit(text).hostname and not set(text) & set(" <>\"'{}|\\^`"):
        return text
    try:
        found = str(canonicalize_license_expression(text))
    except InvalidLicenseExpression:
        found = ""
    if not found or not set(found).isdisjoint(" ()+") or found.startswith("LicenseRef-"):
        raise ValueError(
            "must be one identifier of the SPDX License List, such as CC-BY-4.0, CC0-1.0 or OGL-UK-3.0, or the https "
            f"address of the terms; got '{text}'."
        )
    return found


def license_address(license_: str) -> str:
    """Where its text stands."""
    return license_ if is_address(license_) else f"https://spdx.org/licenses/{quote(license_)}.html"


def is_address(license_: str) -> bool:
    """Whether a licence is written as the address of terms and not an identifier."""
    return license_.startswith("https://")
