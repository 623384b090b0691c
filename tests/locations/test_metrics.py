import re

import pytest

from shoal.locations.metrics import BOUNDS, Metrics, Watched, family

FIGURES = {
    "classes": [
        {"k": 5, "cells": 12, "waiting": "none", "distortion_km": 1.25, "drift": 0.02, "short_atoms": 0},
        {"k": 20, "cells": 0, "waiting": "fewer than 20", "distortion_km": None, "drift": None, "short_atoms": 3},
    ],
    "history": True,
    "admission": "join",
    "change": 17,
}
LINE = re.compile(r'[a-z_]+(\{[a-z]+="[^"]*"(,[a-z]+="[^"]*")*\})? -?\d+(\.\d+)?(e-?\d+)?')


def test_every_line_is_one_that_prometheus_reads():
    metrics = Metrics()
    metrics.count("/v1/location", "GET", 200, 0.004)
    watched = Watched(process=7, promises={"k at every moment": True, "places": False})
    lines = metrics.text(FIGURES, watched).splitlines()
    for line in lines:
        assert LINE.fullmatch(line) or re.fullmatch(r"# (HELP \w+ .+|TYPE \w+ (counter|gauge|histogram))", line), (
            line
        )
    names = [line.split()[2] for line in lines if line.startswith("# TYPE")]
    assert len(names) == len(set(names)), "each metric is described once, with all its lines together"


def test_requests_are_counted_by_route_and_status():
    metrics = Metrics()
    for status in (200, 200, 401):
        metrics.count("/v1/location", "GET", status, 0.1)
    text = metrics.text(FIGURES)
    assert 'shoal_http_requests_total{route="/v1/location",method="GET",status="200"} 2\n' in text
    assert 'shoal_http_requests_total{route="/v1/location",method="GET",status="401"} 1\n' in text


def test_the_histogram_is_cumulative_and_ends_with_the_count():
    metrics = Metrics()
    for seconds in (0.0005, 0.001, 0.02, 100.0):
        metrics.count("/map", "GET", 200, seconds)
    numbers = [
        int(n) for n in re.findall(r'seconds_bucket\{route="/map",le="[^"]+"\} (\d+)', metrics.text(FIGURES))
    ]
    assert len(numbers) == len(BOUNDS) + 1
    assert numbers == sorted(numbers)
    assert numbers[0] == 2, "a bound counts what is equal to it"
    assert numbers[-2:] == [3, 4]
    assert 'shoal_http_request_seconds_count{route="/map"} 4' in metrics.text(FIGURES)
    assert 'shoal_http_request_seconds_sum{route="/map"} 100.0215' in metrics.text(FIGURES)


@pytest.mark.parametrize("waiting", ["none", "fewer than 20", "20 or more"])
def test_whether_devices_wait_is_a_word_and_never_a_number(waiting):
    figures = {**FIGURES, "classes": [{**FIGURES["classes"][1], "waiting": waiting}]}
    lines = re.findall(r'shoal_waiting\{k="20",level="([^"]+)"\} (\d+)', Metrics().text(figures))
    assert [level for level, value in lines if value == "1"] == [waiting.replace("20", "k")]
    assert {value for _, value in lines} == {"0", "1"}


def test_what_is_not_known_has_no_line():
    text = Metrics().text(FIGURES)
    assert 'shoal_drift{k="5"} 0.02' in text
    assert 'shoal_drift{k="20"}' not in text
    assert "promise_holds" not in text


def test_promises_are_those_of_the_last_check():
    watched = Watched()
    watched.heard({"promises": {"places": False}})
    assert 'shoal_promise_holds{promise="places"} 0' in Metrics().text(FIGURES, watched)
    watched.heard({"promises": {"places": True}})
    assert 'shoal_promise_holds{promise="places"} 1' in Metrics().text(FIGURES, watched)


def test_what_the_worker_did_is_counted():
    watched = Watched(restarts=2)
    for _ in range(3):
        watched.heard({"done": True})
    text = Metrics().text(FIGURES, watched)
    assert "shoal_redraws_total 3" in text
    assert "shoal_worker_restarts_total 2" in text
    assert "shoal_worker_running 0" in text


def test_a_label_cannot_break_out_of_its_quotes():
    (_, _, line) = family("x", "gauge", "a test", [("", {"name": 'a"} 1\nb\\'}, 1)])
    assert line == 'shoal_x{name="a\\"} 1\\nb\\\\"} 1'
