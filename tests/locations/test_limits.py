import math

import pytest

from shoal import ShoalError
from shoal.locations.limits import Buckets, Gate, Limits, Rate, key_of_address, key_of_credential


class Clock:
    """A clock that goes when it is told to."""

    def __init__(self):
        self.now = 1000.0

    def __call__(self):
        return self.now


@pytest.fixture
def clock():
    return Clock()


def test_so_many_at_once_and_then_so_many_a_second(clock):
    buckets = Buckets(Rate(2, 5), clock=clock)
    assert [buckets.take(b"a") for _ in range(5)] == [0.0] * 5
    assert buckets.take(b"a") == pytest.approx(0.5)
    clock.now += 0.5
    assert buckets.take(b"a") == 0.0
    assert buckets.take(b"a") > 0


def test_over_a_long_time_no_more_than_the_rate_gets_through(clock):
    buckets = Buckets(Rate(2, 5), clock=clock)
    through = 0
    for _ in range(10_000):
        clock.now += 0.01
        through += buckets.take(b"a") == 0.0
    assert 200 <= through <= 205


def test_what_is_refused_costs_nothing(clock):
    buckets = Buckets(Rate(1, 1), clock=clock)
    buckets.take(b"a")
    for _ in range(100):
        assert buckets.take(b"a") == pytest.approx(1.0)
    clock.now += 1.0
    assert buckets.take(b"a") == 0.0


def test_one_key_does_not_use_up_the_tokens_of_another(clock):
    buckets = Buckets(Rate(1, 1), clock=clock)
    assert buckets.take(b"a") == 0.0
    assert buckets.take(b"b") == 0.0
    assert buckets.take(b"a") > 0


def test_memory_is_bounded_whatever_keys_come(clock):
    buckets = Buckets(Rate(0.001, 10), most=100, clock=clock)
    for number in range(10_000):
        buckets.take(str(number).encode())
        assert len(buckets) <= 100


def test_the_key_that_asked_longest_ago_is_forgotten_first(clock):
    buckets = Buckets(Rate(0.001, 1), most=3, clock=clock)
    for key in (b"a", b"b", b"c", b"d"):
        buckets.take(key)
    assert buckets.wait(b"a") == 0.0
    assert buckets.wait(b"b") > 0


def test_full_buckets_are_forgotten(clock):
    buckets = Buckets(Rate(1, 5), clock=clock)
    for number in range(1000):
        buckets.take(str(number).encode())
    clock.now += 10
    for number in range(600):
        buckets.take(f"new {number}".encode())
    assert len(buckets) <= 600


def test_without_a_rate_everything_gets_through(clock):
    gate = Gate(Limits.none(), clock=clock)
    for _ in range(10_000):
        gate.failed(b"a")
        assert gate.wait(b"a", b"c") == 0.0


def test_looking_how_long_to_wait_takes_no_token(clock):
    buckets = Buckets(Rate(1, 1), clock=clock)
    for _ in range(10):
        assert buckets.wait(b"a") == 0.0
    assert buckets.take(b"a") == 0.0


def test_an_address_whose_failures_are_used_up_is_refused_with_a_good_credential_too(clock):
    gate = Gate(Limits(failures=Rate(1, 3)), clock=clock)
    for _ in range(3):
        assert gate.wait(b"a", b"good") == 0.0
        gate.failed(b"a")
    assert gate.wait(b"a", b"good") > 0
    assert gate.wait(b"b", b"good") == 0.0


def test_an_address_that_is_refused_adds_no_credentials(clock):
    gate = Gate(Limits(address=Rate(1, 2)), clock=clock)
    for number in range(100):
        gate.wait(b"a", str(number).encode())
    assert len(gate.credentials) == 2


@pytest.mark.parametrize(("each_second", "at_once"), [(0, 1), (-1, 1), (math.nan, 1), (math.inf, 1), (1, 0)])
def test_a_rate_that_makes_no_sense_is_refused(each_second, at_once):
    with pytest.raises(ShoalError, match="a rate must"):
        Rate(each_second, at_once)


@pytest.mark.parametrize(
    ("one", "other", "alike"),
    [
        ("192.0.2.1", "192.0.2.2", False),
        ("2001:db8::1", "2001:db8::ffff:1", True),  # one household
        ("2001:db8::1", "2001:db8:0:1::1", False),
        ("::ffff:192.0.2.1", "192.0.2.1", True),  # the same, written in two ways
        ("fe80::1%eth0", "fe80::1%eth1", True),
        (None, "", True),
        ("unix", "testclient", False),
    ],
)
def test_addresses_are_told_apart_by_their_network(one, other, alike):
    assert (key_of_address(one) == key_of_address(other)) is alike


def test_the_key_of_a_credential_does_not_hold_it():
    credential = "shd_" + "A" * 43
    assert len(key_of_credential(credential)) == 16
    assert credential.encode()[:8] not in key_of_credential(credential)
    assert key_of_credential("\ud800") != key_of_credential("")
