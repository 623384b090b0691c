"""The templates of pages and cards; everything that came with a table is text there, never markup."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import jinja2


def template(name: str, **filters: object) -> "jinja2.Template":
    """A template of the package, by its path in it."""
    import jinja2  # only who draws a page needs it

    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("shoal", "."), autoescape=True, undefined=jinja2.StrictUndefined
    )
    environment.filters.update(filters)
    return environment.get_template(name)
