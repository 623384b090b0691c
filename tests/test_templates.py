import pytest
from jinja2 import UndefinedError

from shoal.cards import Card
from shoal.templates import template


def test_what_came_with_a_table_is_text():
    html = template("card.html").render(card=Card("<script>alert(1)</script>", [("<b>", "&")]))
    assert "<script>" not in html
    assert "&lt;b&gt;" in html


def test_a_name_that_a_template_does_not_get_is_an_error():
    with pytest.raises(UndefinedError):
        template("card.html").render()
