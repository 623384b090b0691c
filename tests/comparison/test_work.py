"""Settings run here and apart; the second kind starts processes, so these tests are few."""

import time

import numpy as np
import pandas as pd
import pytest

from shoal import MDAV
from shoal.comparison.grid import grid
from shoal.comparison.work import Measuring, Telling, working

DATA = pd.DataFrame(np.random.default_rng(0).normal(size=(60, 2)), columns=["a", "b"])


def settings(methods, k=3, **options):
    return grid([k], methods, ["a", "b"], None, None, options)


def same(row):
    return {name: value for name, value in row.as_dict().items() if name not in ("seconds", "limit")}


def test_apart_gives_the_rows_that_are_given_here():
    shares = []
    with working(DATA, None) as here, working(DATA, 300.0) as apart:
        for each in settings(["mdav", "vmdav"]):
            first, second = here(each, shares.append), apart(each, shares.append)
            assert same(first.row) == same(second.row)
            assert second.row.limit == 300.0
            assert first.row.limit is None
    assert shares
    assert all(0 <= share <= 1 for share in shares)


def test_a_setting_that_takes_too_long_is_unfinished_and_the_next_one_is_done():
    rng = np.random.default_rng(0)
    large = pd.DataFrame(rng.normal(size=(4000, 2)), columns=["a", "b"])
    slow, quick = grid([3], ["pcl", "mdav"], ["a", "b"], None, None, {})
    with working(large, 0.5) as run:
        began = time.monotonic()
        row, _ = run(slow, lambda _: None)
        assert time.monotonic() - began < 600
        assert (row.status, row.limit, row.loss) == ("unfinished", 0.5, None)
    with working(DATA, 300.0) as run:
        assert run(quick, lambda _: None).row.is_ok


def test_a_method_that_another_process_cannot_load_fails_in_one_line():
    class Own(MDAV):
        pass

    with working(DATA, 60.0) as run:
        own, plain = settings([Own()]), settings(["mdav"])
        row, _ = run(own[0], lambda _: None)
        assert row.status == "failed"
        assert "cannot be handed over" in row.reason
        assert run(plain[0], lambda _: None).row.is_ok


def test_warnings_come_back_as_sentences_each_once():
    (own,) = settings(["mdav"])
    table = DATA.assign(c=np.arange(60))
    warned = Measuring(table)(own, lambda _: None).warned
    assert [sentence for sentence in warned if "columns without a role" in sentence]
    assert len(set(warned)) == len(warned)


def test_a_method_is_made_ready_once(monkeypatch):
    ready = []
    monkeypatch.setattr("shoal.comparison.work.made_ready", lambda setting: ready.append(setting.method))
    measuring = Measuring(DATA)
    for each in (*settings(["mdav", "vmdav"]), *settings(["mdav"], 4)):
        assert measuring(each, lambda _: None).row.is_ok
    assert ready == ["mdav", "vmdav"]


def test_progress_is_told_now_and_then():
    shares = []
    telling = Telling(shares.append)
    for done in range(1000):
        telling(done, 1000)
    telling(0, 0)
    assert shares[0] == 0.0
    assert len(shares) < 500


@pytest.mark.parametrize("limit", [None, 60.0])
def test_an_interrupt_comes_through(limit, monkeypatch):
    def stop(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("shoal.comparison.work.Measuring.__call__", stop)
    monkeypatch.setattr("shoal.engines.apart.Apart.result", stop)
    with pytest.raises(KeyboardInterrupt), working(DATA, limit) as run:
        run(settings(["mdav"])[0], lambda _: None)
