import os
import re
import stat

import pytest

from shoal.errors import ShoalError
from shoal.pseudonyms import DIGITS, Pseudonyms, key_in


def test_a_pseudonym_is_a_keyed_hash_of_the_text():
    key, other = bytes(32), bytes(31) + b"\1"
    made = Pseudonyms.made_of(["anna", "ben", "anna"], key).text()
    assert made[0] == made[2] != made[1]
    assert all(re.fullmatch(f"[0-9a-f]{{{DIGITS}}}", each) for each in made)
    assert set(made).isdisjoint(Pseudonyms.made_of(["anna", "ben"], other).text())


def test_ten_thousand_people_have_as_many_pseudonyms():
    assert len(set(Pseudonyms.made_of(list(map(str, range(10_000))), bytes(32)).text())) == 10_000


def test_a_key_is_made_once_and_only_its_owner_may_read_it(tmp_path):
    path = tmp_path / "key"
    first = key_in(str(path))
    assert len(first) == 32
    assert key_in(str(path)) == first
    assert key_in(str(tmp_path / "another")) != first
    if os.name == "posix":
        assert stat.S_IMODE(path.stat().st_mode) == 0o600


@pytest.mark.parametrize("content", [b"", b"secret", b"ab" * 31, b"ab" * 33, b"\xff\xfe" * 32])
def test_a_file_that_is_no_key_is_refused_and_kept(tmp_path, content):
    path = tmp_path / "notes.txt"
    path.write_bytes(content)
    with pytest.raises(ShoalError, match="key of pseudonyms"):
        key_in(str(path))
    assert path.read_bytes() == content


def test_a_key_that_cannot_be_written_is_an_error(tmp_path):
    with pytest.raises(ShoalError, match="cannot use .* for the key of pseudonyms"):
        key_in(str(tmp_path / "no" / "such" / "folder" / "key"))
