"""Names that look like others and are not equal to them: whoever is counted by such names is counted several times."""

import pyarrow as pa
import pyarrow.compute as pc

_IGNORED = r"\x{034F}\x{115F}\x{1160}\x{17B4}\x{17B5}\x{180B}-\x{180F}\x{3164}\x{FE00}-\x{FE0F}\x{FFA0}"
_OTHER_BLANKS = r"\x{00A0}\x{1680}\x{2000}-\x{200A}\x{2028}\x{2029}\x{202F}\x{205F}\x{3000}"
UNCLEAR = rf"[\p{{Cf}}\p{{Cc}}{_IGNORED}{_OTHER_BLANKS}]|  "
"""Of RE2, anywhere in a name: characters that nobody sees, blanks other than the usual one, and two of these."""

SAYS = (
    "spelled with characters that nobody sees, with other blanks than single ones, or not in Unicode's composed form "
    "(NFC), so that names which look the same may differ; clean the column"
)


def unclear_names(names: pa.Array) -> pa.Array:
    """Which trimmed texts are not spelled in the one way that they look; case counts. Null where the text is."""
    composed = pc.utf8_normalize(names, form="NFC")
    return pc.or_(pc.match_substring_regex(names, UNCLEAR), pc.not_equal(composed, names))
