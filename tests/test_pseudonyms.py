import os
import re
import stat

import pandas as pd
import pytest

import shoal
from shoal.errors import ShoalError, ShoalWarning
from shoal.pseudonyms import DIGITS, Pseudonyms, check_key_place, fingerprint, key_in


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
    with pytest.warns(ShoalWarning, match=f"a new key was made in {re.escape(str(path))}"):
        first = key_in(str(path))
    assert len(first) == 32
    assert key_in(str(path)) == first
    with pytest.warns(ShoalWarning, match="a new key was made"):
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


def test_the_key_has_a_file_of_its_own(tmp_path):
    key, other = tmp_path / "key.txt", tmp_path / "other.txt"
    check_key_place(None, [key], key)
    check_key_place(str(key), [other], tmp_path / "in.csv")
    with pytest.raises(ShoalError, match=r"key\.txt is the key of pseudonyms; choose another name for what is"):
        check_key_place(str(key), [other, tmp_path / "." / "key.txt"])
    with pytest.raises(ShoalError, match=r"key\.txt is the input, and is to hold the key of pseudonyms"):
        check_key_place(str(key), [other], key)
    key.write_text("ab" * 32)
    other.hardlink_to(key)
    with pytest.raises(ShoalError, match=r"other\.txt is the key of pseudonyms"):
        check_key_place(str(key), [other])


def test_a_link_to_nothing_is_no_place_for_a_key(tmp_path):
    link = tmp_path / "key.txt"
    link.symlink_to(tmp_path / "gone" / "key.txt")
    with pytest.raises(ShoalError, match="it is a link to a file that does not exist; correct the link, or name"):
        check_key_place(str(link))


TABLE = "who,age\n" + "".join(f"p{row},{30 + row}\n" for row in range(8))
LINKED = {"person": "who", "pseudonym": "who", "method": "mdav", "keep_order": True}


@pytest.mark.filterwarnings("ignore::shoal.ShoalWarning")
@pytest.mark.parametrize("taken", ["out.csv", "out.csv.manifest.json", "report.html"])
def test_nothing_is_written_over_the_key(tmp_path, taken):
    source, key, target = tmp_path / "in.csv", tmp_path / taken, tmp_path / "out.csv"
    source.write_text(TABLE)
    release = shoal.anonymize(source, 2, "age", **LINKED, pseudonym_key=key)
    made = key.read_text()
    for write in (
        lambda: release.write(target, overwrite=True, report=tmp_path / "report.html"),
        lambda: release.report(key, overwrite=True),
    ):
        with pytest.raises(ShoalError, match="is the key of pseudonyms; choose another name"):
            write()
    assert key.read_text() == made
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(["in.csv", taken])


@pytest.mark.parametrize("taken", ["out.csv", "out.csv.manifest.json", "in.csv"])
def test_a_key_under_another_files_name_is_refused_before_it_is_made(tmp_path, taken):
    source, target = tmp_path / "in.csv", tmp_path / "out.csv"
    source.write_text(TABLE)
    with pytest.raises(ShoalError, match="key of pseudonyms; (choose another name for what is|name another file)"):
        shoal.anonymize_file(source, target, 2, "age", **LINKED, pseudonym_key=tmp_path / taken, overwrite=True)
    with pytest.raises(ShoalError, match="name another file for the key"):
        shoal.anonymize(source, 2, "age", **LINKED, pseudonym_key=source)
    assert [path.name for path in tmp_path.iterdir()] == ["in.csv"]


def test_a_fingerprint_tells_keys_apart_and_is_not_the_key():
    one, other = fingerprint(bytes(32)), fingerprint(bytes(31) + b"\1")
    assert re.fullmatch("[0-9a-f]{16}", one)
    assert one != other
    assert one not in Pseudonyms.made_of([""], bytes(32)).text()[0]


def families(rows):
    """Two households of two persons, who have so many rows each."""
    who = [person for person, count in zip("abcd", rows, strict=True) for _ in range(count)]
    home = ["ab".find(person) < 0 for person in who]
    return pd.DataFrame({"who": who, "home": home, "age": range(len(who))})


AT_HOME = {"person": "who", "household": "home", "pseudonym": "who", "method": "mdav"}


@pytest.mark.filterwarnings("ignore::shoal.ShoalWarning")
def test_linked_persons_in_households_are_counted_before_there_is_a_table_and_a_refusal_leaves_no_key(tmp_path):
    key = tmp_path / "key"
    with pytest.raises(ShoalError, match="only 1 household has the same rows, fewer than 2"):
        shoal.anonymize(families([1, 1, 1, 2]), 2, "age", **AT_HOME, pseudonym_key=key)
    assert not key.exists()
    release = shoal.anonymize(families([1, 1, 1, 2]), 2, "age", **AT_HOME, pseudonym_key=key, accept_linkage=True)
    assert (release.risk["linked_k"].value, release.risk["linked_k"].unit) == (1, "households")
    release = shoal.anonymize(families([1, 2, 1, 2]), 2, "age", **AT_HOME, pseudonym_key=key)
    assert release.risk["linked_k"].value == 2
    counted = release.risk["linked_k"]
    release.write(tmp_path / "safe.csv")
    assert release.risk["linked_k"] == counted
    assert release.manifest["key_fingerprint"] == fingerprint(key_in(str(key)))


@pytest.mark.filterwarnings("ignore::shoal.ShoalWarning")
def test_the_common_weight_counts_where_rows_are_linked(tmp_path):
    """Two groups of equal ages and different weights: whoever knows the weight knows the group."""
    frame = pd.DataFrame({"who": list("abcd"), "age": [5.0, 5, 5.5, 5.5], "w": [1, 1, 7, 7]})
    said = {
        "person": "who",
        "pseudonym": "who",
        "sampling_weight": "w",
        "digits": 0,
        "pseudonym_key": tmp_path / "k",
    }
    release = shoal.anonymize(frame, 2, "age", **said, method="mdav")
    assert release.risk["linked_k"].value == 2
    release.write(tmp_path / "safe.csv")
    assert release.risk["linked_k"].value == 2
