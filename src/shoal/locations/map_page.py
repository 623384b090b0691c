"""The operator's page, and the rules that a browser must hold it to.

The page loads nothing from elsewhere and may ask nobody but this service. Its scripts and styles stand in it; a
browser runs only those whose hashes are in the header, so nothing that finds its way into the page could run.
"""

import base64
import hashlib
import re
from dataclasses import dataclass
from pathlib import Path

from starlette.responses import HTMLResponse, Response

PAGE = Path(__file__).with_name("map.html")


@dataclass(frozen=True)
class Page:
    """A page and its rules."""

    text: str
    rules: str

    def answer(self) -> Response:
        """The page as an answer."""
        return HTMLResponse(self.text, headers={"content-security-policy": self.rules})


def map_page(path: Path | None = None) -> Page:
    """The page of a file, or the operator's."""
    text = (path or PAGE).read_text(encoding="utf-8")
    rules = {
        "default-src": "'none'",
        "script-src": _hashes(text, "script"),
        "style-src": _hashes(text, "style"),
        "img-src": "'self' data:",
        "connect-src": "'self'",
        "base-uri": "'none'",
        "form-action": "'none'",
        "frame-ancestors": "'none'",
    }
    return Page(text, "; ".join(f"{name} {allowed}" for name, allowed in rules.items()))


def _hashes(text: str, element: str) -> str:
    """The hashes of all elements of that kind, as the header takes them."""
    inside = re.findall(rf"<{element}(?:\s[^>]*)?>(.*?)</{element}>", text, re.DOTALL)
    digests = (hashlib.sha256(each.encode()).digest() for each in inside)
    return " ".join(f"'sha256-{base64.b64encode(digest).decode()}'" for digest in digests) or "'none'"
