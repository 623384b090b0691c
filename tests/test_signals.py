"""What is said of signals; as processes they are tried in test_entry.py."""

import signal

from shoal.signals import StoppedError, numbers, words_on


def test_each_signal_has_its_line_and_the_status_that_shells_expect():
    assert words_on(KeyboardInterrupt()) == ("interrupted; nothing was left half written", 130)
    for name in ("SIGTERM", "SIGHUP"):
        number = getattr(signal, name)
        assert words_on(StoppedError(number)) == (
            f"stopped by {name}; nothing was left half written",
            128 + number,
        )


def test_the_signals_that_ask_to_stop_are_known():
    assert {signal.SIGINT, signal.SIGTERM} <= set(numbers())
