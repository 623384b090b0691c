"""The observer against a plain comparison of everything that every device was ever told."""

from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.locations.observer import Hidden, Observer


def naive(history, device):
    """history: for each step the answers, device to (principal, answer)."""
    now = history[-1]

    def told(who):
        return [step.get(who, (None, None))[1] for step in history]

    def first(who):
        return next(i for i in reversed(range(len(history))) if i == 0 or who not in history[i - 1])

    def same(other, since):
        return told(device)[since:] == told(other)[since:]

    start = first(device)
    return Hidden(
        len({now[other][0] for other in now if now[other][1] == now[device][1]}),
        len({now[other][0] for other in now if same(other, max(start, first(other)))}),
        len({now[other][0] for other in now if first(other) <= start and same(other, start)}),
    )


@st.composite
def histories(draw):
    """Devices that come and go, never twice, and are told one of a few answers."""
    steps, count = draw(st.integers(1, 6)), draw(st.integers(1, 9))
    spans = [sorted((draw(st.integers(0, steps - 1)), draw(st.integers(0, steps)))) for _ in range(count)]
    owners = [draw(st.integers(0, 5)) for _ in range(count)]
    return [
        {
            f"d{i}": (owners[i], draw(st.sampled_from("ab")))
            for i, (begin, end) in enumerate(spans)
            if begin <= step < end
        }
        for step in range(steps)
    ]


@settings(deadline=None)
@given(histories())
def test_the_observer_finds_what_a_plain_comparison_finds(history):
    observer = Observer()
    for number, told in enumerate(history):
        seen = observer.look(told)
        assert seen == {device: naive(history[: number + 1], device) for device in told}


def test_a_principal_with_two_devices_counts_once():
    assert Observer().look({"a": (1, "x"), "b": (1, "x"), "c": (2, "x")})["a"] == Hidden(2, 2, 2)


def test_devices_that_part_are_told_apart_for_ever():
    observer = Observer()
    observer.look({"a": (1, "x"), "b": (2, "x")})
    observer.look({"a": (1, "y"), "b": (2, "x")})
    assert observer.look({"a": (1, "x"), "b": (2, "x")})["a"] == Hidden(2, 1, 1)


def test_a_newcomer_hides_others_only_from_who_does_not_know_that_it_is_new():
    observer = Observer()
    observer.look({"a": (1, "x")})
    seen = observer.look({"a": (1, "x"), "b": (2, "x")})
    assert seen == {"a": Hidden(2, 2, 1), "b": Hidden(2, 2, 2)}
