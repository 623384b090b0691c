"""Every line of docs/locations/api.md is run against a service, and every route is on that page."""

import contextlib
import io
import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from locations.running import running

PAGE = Path(__file__).parents[2] / "docs" / "locations" / "api.md"
BLOCK = re.compile(r"```(bash|python|text)\n(.*?)```", re.DOTALL)


def blocks():
    """The blocks of the page, as (kind, text)."""
    return BLOCK.findall(PAGE.read_text())


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    with running(tmp_path_factory.mktemp("page")) as found:
        yield found


def with_real(text, server, known):
    """The text of a block with what the reader would put in: this service, and secrets that were told before."""
    text = re.sub(r"http://127\.0\.0\.1:8400", server.url, text).replace("k=5", "k=3")
    return re.sub(r"\b(sh[dio]_)\.\.\.", lambda found: known[found[1]], text)


@pytest.mark.skipif(not shutil.which("curl") or os.name != "posix", reason="needs curl and a shell")
def test_every_line_for_curl_works_in_the_order_of_the_page(server):
    known = {"sho_": server.service.new_operator("Ada")}
    before, told = "", []
    for kind, text in blocks():
        if kind == "text" and told:
            expected, found = json.loads(text.replace("...", "x")), json.loads(told[-1])
            assert set(found) in (set(expected), {"answer"}), (
                f"the page shows {text}, and the answer is {told[-1]}"
            )
        if kind != "bash":
            continue
        told = []
        for command in re.split(r"(?<!\\)\n", text.strip()):
            line = with_real(command, server, known)
            if not line.startswith("curl"):
                before += line + "\n"
                continue
            script = before + line + " -w '\\n%{http_code}'"
            done = subprocess.run(["bash", "-eu", "-c", script], capture_output=True, text=True, timeout=60)
            answer, _, status = done.stdout.rpartition("\n")
            assert done.returncode == 0, f"{command}\n{done.stderr}"
            assert status.startswith("2"), f"{command}\n{done.stdout}"
            told.append(answer)
            for secret in re.findall(r"sh[di]_[\w-]{43}", answer):
                known[secret[:4]] = secret
            if '"credential"' in answer:
                before += f"CREDENTIAL={known['shd_']}\n"
    assert "CREDENTIAL" in before


def test_the_python_of_the_page_works(server):
    (code,) = [text for kind, text in blocks() if kind == "python"]
    known = {"shi_": server.service.invite()[0]}
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        exec(compile(with_real(code, server, known), str(PAGE), "exec"), {})
    lines = printed.getvalue().splitlines()
    assert lines[0].startswith("shd_")
    assert lines[-1] == "401 the credential is missing or not known"


def test_every_route_is_on_the_page(standing):
    text = PAGE.read_text()
    for path in standing.app.openapi()["paths"]:
        assert path in text, path


def test_every_status_is_on_the_page(standing):
    answers = {
        status
        for path in standing.app.openapi()["paths"].values()
        for route in path.values()
        for status in route["responses"]
    }
    text = PAGE.read_text()
    assert [status for status in sorted(answers) if not re.search(rf"\b{status}\b", text)] == []


def test_every_metric_is_on_the_page_and_no_other(standing):
    from locations.test_metrics import FIGURES
    from shoal.locations.metrics import Metrics, Watched

    metrics = Metrics()
    metrics.count("/map", "GET", 200, 0.1)
    text = metrics.text(FIGURES, Watched(promises={"places": True}))
    assert set(re.findall(r"# TYPE (\w+)", text)) == set(re.findall(r"`(shoal_\w+)`", PAGE.read_text()))


def test_limits_on_the_page_are_those_of_the_service(standing):
    from shoal.locations.limits import Limits

    text, limits = PAGE.read_text(), Limits()
    for rate in (limits.address, limits.credential):
        assert f"{rate.each_second:g} a second, {rate.at_once} at once" in text
    assert limits.failures.each_second == 0.5
    assert f"1 in two seconds, {limits.failures.at_once} at once" in text
    assert f"more than {limits.body} bytes" in text
    assert limits.seconds == 10
