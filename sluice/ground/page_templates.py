"""Page templates: HTML in which everything is text, whoever wrote it, and a name that is not known is an error."""

from jinja2 import Environment, PackageLoader, StrictUndefined

from sluice.ground.visible_text import visible


def page_templates(package: str) -> Environment:
    """The templates in a package's own folder; an environment keeps those that it compiled.

    Values are escaped, and characters that a reader would not see are spelled out.
    """
    return Environment(
        loader=PackageLoader(package, "."),
        autoescape=True,
        finalize=lambda value: visible(value) if type(value) is str else value,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
