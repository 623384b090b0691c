"""A manifest read back, to repeat its release."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from shoal.errors import ShoalError
from shoal.pseudonyms import fingerprint, key_in
from shoal.settings import Settings

_FACTS = ("shoal", "attributes", "figures", "input", "output", "blocks", "key_fingerprint")
_OLDER = ("records", "groups", "information_loss", "untouched", "certificate", "weights")
"""What a manifest says beside the settings, and what older ones said there."""


@dataclass(frozen=True)
class Recipe:
    """A manifest read back, to repeat its release."""

    input_name: str | None
    input_sha256: str
    output_sha256: str | None
    dialect: dict[str, Any]
    settings: Settings
    blocks: int | None = None  # that a table larger than memory was cut into
    key_fingerprint: str | None = None  # of the key of its pseudonyms

    def check_key(self) -> None:
        """The key of pseudonyms must be the one that the release was made with."""
        path = self.settings.pseudonym_key
        if path is None:
            return
        if not Path(path).exists():
            raise ShoalError(
                f"the recipe's pseudonyms need the key in {path}, and there is no such file; put the key there, "
                "because with a new one every pseudonym would be another"
            )
        if self.key_fingerprint not in (None, fingerprint(key_in(path, may_be_new=False))):
            raise ShoalError(
                f"{path} holds another key than the one that the recipe's pseudonyms were made with; put that one "
                "there, because with another key every pseudonym would be another"
            )


def load_recipe(path: Path) -> Recipe:
    """Read a manifest."""
    try:
        manifest = json.loads(path.read_text(encoding="utf-8"))
        recipe = recipe_of(manifest)
    except OSError as error:
        raise ShoalError(f"cannot read the recipe {path}: {error.strerror}") from None
    except ShoalError:
        raise
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise ShoalError(f"{path} is not a manifest of Shoal ({type(error).__name__}: {error})") from None
    return recipe


def recipe_of(manifest: dict[str, Any]) -> Recipe:
    """What a manifest asks for; whatever is missing or odd in it raises."""
    settings = Settings.from_dict(manifest)
    if odd := [name for name in manifest if name not in (*settings.as_dict(), *_FACTS, *_OLDER)]:
        raise ShoalError(
            f"the recipe says {odd[0]!r}, which this version does not know; take it out or correct it"
        )
    if not settings.keep_order and settings.key is None:
        raise ShoalError(
            "the recipe has no key, so the order of its rows cannot be repeated; take a manifest that has it"
        )
    dialect: dict[str, Any] = dict(manifest["input"].get("dialect", {}))
    if dialect:
        dialect.setdefault("header", True)  # older manifests do not say so
        dialect.pop("newline", None)
    return Recipe(
        manifest["input"].get("name"),
        manifest["input"]["sha256"],
        (manifest["output"] or {}).get("sha256"),
        dialect,
        settings,
        manifest.get("blocks"),
        manifest.get("key_fingerprint"),
    )
