"""The templates of pages and cards; everything that came with a table is text there, never markup."""

import jinja2


def template(name: str, **filters: object) -> jinja2.Template:
    """A template of this folder."""
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("shoal.report", "."), autoescape=True, undefined=jinja2.StrictUndefined
    )
    environment.filters.update(filters)
    return environment.get_template(name)
