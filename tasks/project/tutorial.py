"""The tutorial: the page that docs show, `sluice tutorial` plays and a test runs."""

from importlib.resources import files
from importlib.util import find_spec

from sluice.ground.errors import SluiceError


def tutorial_page() -> str:
    """The page, in Markdown.

    raises : SluiceError where statsmodels, which carries the survey, is not installed
    """
    if find_spec("statsmodels") is None:
        raise SluiceError(
            "the tutorial's survey comes with statsmodels, not installed here: pip install 'sluice-sdc[demo]'"
        )
    return (files(__package__) / "files" / "tutorial.md").read_text(encoding="utf-8")
