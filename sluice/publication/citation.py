"""How to cite a published data set: `CITATION.cff`, which reference managers and repositories read.

Source: Citation File Format 1.2.0 (Druskat and others, 2021).
"""

import yaml

from sluice.publication.codebook import Codebook
from sluice.publication.license import is_address


def citation_file(book: Codebook) -> bytes:
    """The file, UTF-8. Without a DOI it says how one gets into the next edition: what is signed cannot be changed."""
    content: dict[str, object] = {
        "cff-version": "1.2.0",
        "message": "If you use these data, please cite them as below.",
        "type": "dataset",
        "title": book.title,
        "authors": [{"name": book.publisher or book.dataset}],
        "version": book.release,
        "date-released": book.published[:10],
    }
    if book.description:
        content["abstract"] = book.description
    if book.doi:
        content["doi"] = book.doi
    if book.license:
        content["license-url" if is_address(book.license) else "license"] = book.license
    text = yaml.safe_dump(content, sort_keys=False, allow_unicode=True, width=100)
    if not book.doi:
        text += "# doi: 10.XXXX/...  as soon as one is registered; the release definition's field 'doi' puts it here\n"
    return text.encode()
