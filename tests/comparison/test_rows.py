import json

import pytest

from shoal.comparison.rows import Row, time_of

WHOLE = Row(
    "mdav", 3, "ok", loss=4.5, seconds=0.25, records=9, groups=3, smallest=3, largest=3, prosecutor_highest=100 / 3,
    prosecutor_mean=100 / 3, linkage=20.0, linkage_error=0.0, single_value=None, made_by="MDAV", seed=0,
)  # fmt: skip


def test_a_row_comes_back_from_json_as_it_was():
    assert Row.from_dict(json.loads(json.dumps(WHOLE.as_dict()))) == WHOLE
    unfinished = Row("pcl", 5, "unfinished", limit=2.0)
    assert Row.from_dict(json.loads(json.dumps(unfinished.as_dict()))) == unfinished


@pytest.mark.parametrize(
    "change",
    [
        {"loss": "4.5"}, {"loss": True}, {"k": 3.0}, {"k": None}, {"status": "fine"}, {"status": "ok", "loss": None},
        {"cached": 0}, {"method": 3}, {"another": 1}, {"groups": [3]},
    ],
)  # fmt: skip
def test_what_is_odd_is_no_row(change):
    with pytest.raises((ValueError, TypeError)):
        Row.from_dict(WHOLE.as_dict() | change)


def test_what_lacks_a_field_is_no_row():
    given = WHOLE.as_dict()
    del given["seed"]
    with pytest.raises(ValueError, match="fields"):
        Row.from_dict(given)


def test_the_state_of_a_row_is_a_sentence():
    assert WHOLE.state == "ok"
    assert Row("pcl", 5, "unfinished", limit=90.0).state == "unfinished after 1 min 30 s"
    assert Row("pcl", 5, "refused", "k is too large").state == "refused: k is too large"
    assert not Row("pcl", 5, "failed", "out of memory").is_ok


def test_times_have_as_many_digits_as_are_of_use():
    shown = {None: "", 0.0123: "0.012 s", 0.5: "0.5 s", 3.14: "3.1 s", 45.2: "45 s", 75: "1 min 15 s"}
    assert {seconds: time_of(seconds) for seconds in shown} == shown
