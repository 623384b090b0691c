"""The operator's page in a real browser, with a real server: nothing leaves, everybody can use it, the data are right."""

import math
import shutil
import threading
import time
from contextlib import contextmanager

import numpy as np
import pytest

pytest.importorskip("fastapi", reason="the extra shoal[locations] is not installed")
uvicorn = pytest.importorskip("uvicorn", reason="the extra shoal[locations] is not installed")
playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="axe-playwright-python is not installed")

from locations.served import served  # noqa: E402
from shoal.locations.geojson import feature_collection  # noqa: E402
from shoal.locations.metrics import Watched  # noqa: E402
from shoal.locations.policy import Policy  # noqa: E402
from shoal.locations.promises import PROMISES, check  # noqa: E402

CHROMIUM = shutil.which("chromium")
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="there is no chromium on the PATH")

FLAGS = [
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync",
    "--disable-background-networking", "--disable-component-update",
]  # fmt: skip
MIDDLE = (-16.8, 179.98)  # on the date line
POLICY = Policy(classes=(3, 6), slack=1, distinct_places=2, region=60, start=8)


class Site:
    """A server on a free port, with some devices, and where it is."""

    def __init__(self, asked, port):
        self.asked, self.service, self.url = asked, asked.service, f"http://127.0.0.1:{port}"

    def cells(self, k=3):
        return {cell.id: cell for cell in self.service.cells(k)}


@contextmanager
def running(folder, count, far=0.1, k=None):
    """A real server and, in a thread, its worker's work."""
    watched = Watched()
    with served(folder, policy=POLICY, watched=watched) as asked:
        rng = np.random.default_rng(3)
        invitations = asked.service.invite(count)
        for invitation, (up, right) in zip(invitations, rng.normal(0, far, (count, 2)).tolist(), strict=True):
            longitude = (MIDDLE[1] + right + 180) % 360 - 180
            asked.service.sign_up(invitation, MIDDLE[0] + up, longitude, k)
        while asked.service.work():
            pass
        watched.heard({"promises": {each.promise.name: each.holds for each in check(asked.service.database)}})
        server = uvicorn.Server(uvicorn.Config(asked.app, port=0, ws="none", log_level="error", lifespan="on"))
        stop = threading.Event()

        def work():
            while not stop.wait(0.05):
                asked.service.work()

        threads = [threading.Thread(target=server.run), threading.Thread(target=work)]
        for thread in threads:
            thread.start()
        try:
            until = time.monotonic() + 60
            while not server.started and time.monotonic() < until:
                time.sleep(0.02)
            yield Site(asked, server.servers[0].sockets[0].getsockname()[1])
        finally:
            server.should_exit = True
            stop.set()
            for thread in threads:
                thread.join()


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    with running(tmp_path_factory.mktemp("site"), 150) as made:
        yield made


@pytest.fixture(scope="module")
def browser():
    with playwright.sync_playwright() as engine:
        opened = engine.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield opened
        opened.close()


@pytest.fixture
def opened(browser, site):
    """A function that opens the page, by default with the key given, and notes what it asks for and says."""
    contexts = []

    def opening(width=1280, scheme="light", key=True, touch=False):
        context = browser.new_context(
            viewport={"width": width, "height": 900}, color_scheme=scheme, has_touch=touch
        )
        contexts.append(context)
        tab = context.new_page()
        tab.asked, tab.said = [], []
        tab.on("request", lambda request: tab.asked.append(request.url))
        tab.on("console", lambda message: tab.said.append(message.text))
        tab.on("pageerror", lambda error: tab.said.append(str(error)))
        tab.goto(site.url + "/map")
        if key:
            enter(tab, site.asked.operator)
            until(tab, "drawn.centroids.length > 0")
        return tab

    yield opening
    for context in contexts:
        context.close()


def enter(tab, key):
    tab.get_by_label("Operator key", exact=True).fill(key)
    tab.get_by_role("button", name="Show the cells").click()


def until(tab, condition, seconds=60):
    """Wait; the page's own rules forbid the browser to wait for a text to be true."""
    end = time.monotonic() + seconds
    while not tab.evaluate(condition):
        assert time.monotonic() < end, condition
        time.sleep(0.05)


def settled(tab):
    """Wait until the picture has been drawn."""
    tab.evaluate("new Promise(go => requestAnimationFrame(() => requestAnimationFrame(go)))")


def view_of(tab):
    settled(tab)
    return tab.evaluate("({...drawn.view})")


def where(cell, view):
    """Where a centroid stands in the picture of a globe, worked out from the definition."""
    places = cell.latitude, cell.longitude, view["latitude"], view["longitude"]
    f, east, g, m = (math.radians(each) for each in places)
    x = math.cos(f) * math.sin(east - m)
    y = math.cos(g) * math.sin(f) - math.sin(g) * math.cos(f) * math.cos(east - m)
    return view["width"] / 2 + view["scale"] * x, view["height"] / 2 - view["scale"] * y


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [360, 1280])
def test_the_page_is_quiet_accessible_and_fits(opened, site, width, scheme):
    for key in (False, True):
        tab = opened(width, scheme, key)
        settled(tab)
        assert all(url.startswith(site.url + "/") or url == "data:," for url in tab.asked)
        assert tab.said == []
        assert tab.evaluate("document.documentElement.scrollWidth") <= width
        found = axe.Axe().run(tab).response["violations"]
        grave = [each for each in found if each["impact"] in ("serious", "critical")]
        assert [(each["id"], [node["html"][:120] for node in each["nodes"][:3]]) for each in grave] == []


def test_only_this_service_is_asked_and_the_key_goes_into_no_address(opened, site):
    tab = opened()
    paths = {url.removeprefix(site.url) for url in tab.asked if not url.startswith("data:")}
    assert paths == {"/map", "/v1/operator/figures", "/v1/operator/cells?k=3", "/metrics"}
    assert not any(site.asked.operator in url for url in tab.asked)


def test_the_key_is_kept_in_memory_alone(opened, site):
    tab = opened()
    assert tab.input_value("#key") == ""
    stores = "JSON.stringify([{...localStorage}, {...sessionStorage}, document.cookie])"
    assert tab.evaluate(stores) == '[{},{},""]'
    assert site.asked.operator not in tab.content()
    tab.reload()
    assert tab.is_visible("#key")
    assert not tab.is_visible("#view")


def test_a_wrong_key_shows_nothing(opened):
    tab = opened(key=False)
    for wrong in ("sho_" + "A" * 43, "nonsense", "Schlüssel"):
        enter(tab, wrong)
        until(tab, "document.getElementById('entry-error').textContent !== ''")
        assert tab.inner_text("#entry-error") == "This key is not known."
        assert not tab.is_visible("#view")
    assert tab.evaluate("drawn.centroids.length") == 0


def test_forgetting_the_key_takes_the_data_away(opened):
    tab = opened()
    tab.get_by_role("button", name="Forget the key").click()
    assert not tab.is_visible("#view")
    assert tab.evaluate("[key, cells.size, document.querySelectorAll('#rows tr').length]") == ["", 0, 0]


@pytest.mark.parametrize("width", [360, 1280])
def test_every_cell_is_drawn_with_its_centroid_in_the_right_place(opened, site, width):
    tab = opened(width)
    view = view_of(tab)
    cells = site.cells()
    drawn = {number: (x, y) for number, x, y in tab.evaluate("drawn.centroids")}
    assert set(drawn) == set(cells)
    assert len(cells) > 20
    assert set(tab.evaluate("drawn.outlines")) == set(cells)
    for number, (x, y) in drawn.items():
        assert (x, y) == pytest.approx(where(cells[number], view), abs=0.01)
        assert 0 < x < view["width"]
        assert 0 < y < view["height"]
    # cells on both sides of the date line stand side by side
    assert {cell.longitude > 0 for cell in cells.values()} == {True, False}


def test_the_picture_has_the_colours_of_cells_where_cells_are(opened, site):
    tab = opened()
    settled(tab)
    number, x, y = tab.evaluate("drawn.centroids")[0]
    pixel = "([x, y]) => [...picture.getContext('2d').getImageData(x * devicePixelRatio, y * devicePixelRatio, 1, 1).data]"
    inside, outside = (tab.evaluate(pixel, each) for each in ([x + 5, y + 5], [3, 3]))
    assert inside != outside
    assert number in site.cells()


def test_the_table_has_the_data_of_the_picture(opened, site):
    tab = opened()
    rows = [
        [each.inner_text() for each in row.query_selector_all("th, td")]
        for row in tab.query_selector_all("#rows tr")
    ]
    features = feature_collection(site.service.cells(3))["features"]
    areas = {each["properties"]["cell"]: each["properties"].get("area_km2") for each in features[::2]}
    assert [[int(row[0]), float(row[1]), float(row[2]), row[3]] for row in rows] == [
        [cell.id, cell.latitude, cell.longitude, "3 or more"] for cell in sorted(site.cells().values())
    ]
    assert [float(row[4].replace(",", "")) for row in rows] == pytest.approx([areas[int(row[0])] for row in rows])
    assert tab.inner_text("#caption") == f"Cells 1 to {len(rows)} of {len(rows)}"
    tab.get_by_role("button", name="Latitude").click()
    tab.get_by_role("button", name="Latitude").click()
    latitudes = [
        float(each)
        for each in tab.evaluate(
            "[...document.querySelectorAll('#rows td:nth-child(2)')].map(each => each.textContent)"
        )
    ]
    assert latitudes == sorted(latitudes, reverse=True)
    assert tab.get_attribute("th:nth-child(2)", "aria-sort") == "descending"


def test_the_table_can_be_limited_to_the_picture(opened, site):
    tab = opened()
    for _ in range(3):
        tab.get_by_role("button", name="Zoom in").click()
    view = view_of(tab)
    tab.get_by_label("Only cells whose centroid is in the picture").check()
    expected = set()
    for cell in site.cells().values():
        x, y = where(cell, view)
        if 0 <= x <= view["width"] and 0 <= y <= view["height"]:
            expected.add(cell.id)
    shown = set(tab.evaluate("[...document.querySelectorAll('#rows button')].map(each => +each.dataset.cell)"))
    assert shown == expected
    assert 0 < len(expected) < len(site.cells())


def test_no_exact_size_reaches_the_page(opened):
    tab = opened()
    assert set(tab.evaluate("[...cells.values()].map(each => each.size)")) == {"3 or more"}
    assert set(tab.evaluate("Object.keys([...cells.values()][0])")) == {
        "id", "k", "size", "area", "reach", "open", "rings", "latitude", "longitude", "point",
    }  # fmt: skip


def test_figures_and_promises_are_those_of_the_service(opened, site):
    tab = opened()
    (now,) = [each for each in site.service.figures()["classes"] if each["k"] == 3]
    shown = {
        card.query_selector("dt").inner_text(): card.query_selector("dd").inner_text()
        for card in tab.query_selector_all("#figures .card")
    }
    assert shown["cells"] == str(now["cells"])
    assert shown["principals in each cell"] == "3 or more"
    assert shown["from homes to centroids (root mean square)"] == f"{now['distortion_km']:g} km"
    assert shown["principals without an answer yet"] == now["waiting"]
    promises = [each.inner_text().lower() for each in tab.query_selector_all("#promises li span")]
    assert promises == [each.name.lower() for each in PROMISES]
    assert {each.inner_text() for each in tab.query_selector_all("#promises li b")} == {"✓ holds"}


def test_another_class_is_drawn_when_it_is_chosen(opened):
    tab = opened()
    tab.get_by_label("Class").select_option("6")
    until(tab, "document.getElementById('said').textContent.includes('no cells yet')")
    assert tab.evaluate("drawn.centroids.length") == 0
    assert tab.inner_text("#caption") == "No cells"
    tab.get_by_label("Class").select_option("3")
    until(tab, "drawn.centroids.length > 0")


def test_keys_move_and_zoom_the_map(opened):
    tab = opened()
    assert tab.evaluate("document.activeElement.id") == "map"
    views = [view_of(tab)]
    for key in ("ArrowRight", "ArrowUp", "+", "-", "0"):
        tab.keyboard.press(key)
        views.append(view_of(tab))
    start, right, up, near, far, whole = views
    east = (right["longitude"] - start["longitude"] + 180) % 360 - 180
    assert east > 0
    assert up["latitude"] > right["latitude"]
    assert near["scale"] == pytest.approx(1.5 * up["scale"])
    assert far["scale"] == pytest.approx(up["scale"])
    assert whole == pytest.approx(start)


def test_the_wheel_zooms_at_the_pointer_once_the_map_has_the_focus(opened, site):
    tab = opened()
    tab.evaluate("document.activeElement.blur()")
    box = tab.locator("#map").bounding_box()
    number, x, y = tab.evaluate("drawn.centroids")[3]
    tab.mouse.move(box["x"] + x, box["y"] + y)
    before = view_of(tab)
    tab.mouse.wheel(0, -20)
    tab.wait_for_selector("#tip", state="visible")
    assert view_of(tab) == before
    tab.evaluate("window.scrollTo(0, 0)")
    tab.focus("#map")
    box = tab.locator("#map").bounding_box()
    tab.mouse.move(box["x"] + x, box["y"] + y)
    for _ in range(4):
        tab.mouse.wheel(0, -100)
    until(tab, f"drawn.view.scale > {4 * before['scale']}")
    assert where(site.cells()[number], view_of(tab)) == pytest.approx((x, y), abs=3)


def test_a_drag_moves_the_map_and_a_click_chooses_a_cell(opened, site):
    tab = opened()
    box = tab.locator("#map").bounding_box()
    number, x, y = tab.evaluate("drawn.centroids")[5]
    tab.mouse.move(box["x"] + x, box["y"] + y)
    tab.mouse.down()
    tab.mouse.move(box["x"] + x - 40, box["y"] + y + 25, steps=4)
    tab.mouse.up()
    cell = site.cells()[number]
    assert where(cell, view_of(tab)) == pytest.approx((x - 40, y + 25), abs=1)
    assert tab.evaluate("chosen") is None
    tab.mouse.click(box["x"] + x - 40, box["y"] + y + 25)
    settled(tab)
    chosen = tab.evaluate("chosen")
    assert chosen is not None
    assert tab.inner_text("#said").startswith(f"Cell {chosen}: centroid at ")
    assert tab.get_attribute("tr.chosen", "aria-current") == "true"


def test_two_fingers_zoom(opened):
    tab = opened(360, touch=True)
    before = view_of(tab)["scale"]
    tab.evaluate("""() => {
        const map = document.getElementById("map"), box = map.getBoundingClientRect();
        map.setPointerCapture = () => {};
        const send = (kind, id, x) => map.dispatchEvent(new PointerEvent(kind, {
            pointerId: id, pointerType: "touch", clientX: box.left + x, clientY: box.top + 100, bubbles: true }));
        send("pointerdown", 11, 100); send("pointerdown", 12, 200);
        send("pointermove", 12, 300); send("pointerup", 11, 100); send("pointerup", 12, 300);
    }""")
    assert view_of(tab)["scale"] == pytest.approx(2 * before)


def test_a_cell_of_the_table_is_shown_on_the_map(opened, site):
    tab = opened()
    number = sorted(site.cells())[7]
    tab.get_by_role("button", name=f"Show cell {number} on the map", exact=True).press("Enter")
    view = view_of(tab)
    assert where(site.cells()[number], view) == pytest.approx((view["width"] / 2, view["height"] / 2), abs=0.01)
    assert tab.evaluate("[chosen, document.activeElement.dataset.cell]") == [number, str(number)]


def test_the_scale_bar_is_as_long_as_it_says(opened):
    tab = opened()
    settled(tab)
    text, wide = tab.evaluate(
        "[document.getElementById('scale-text').textContent, document.getElementById('scale-bar').getBoundingClientRect().width]"
    )
    number, unit = text.replace(",", "").split()
    kilometres = float(number) / {"km": 1, "m": 1000}[unit]
    assert wide / view_of(tab)["scale"] * 6371.0088 == pytest.approx(kilometres, rel=0.02)


def test_a_redraw_is_asked_for_and_its_cells_are_shown(opened, site):
    tab = opened()
    before = set(site.cells())
    newcomers = np.random.default_rng(9).normal(0, 0.1, (60, 2)).tolist()
    for invitation, (up, right) in zip(site.service.invite(60), newcomers, strict=True):
        site.service.sign_up(invitation, MIDDLE[0] + up, (MIDDLE[1] + right + 180) % 360 - 180)
    tab.get_by_role("button", name="Redraw now").click()
    assert tab.get_by_role("button", name="Redraw now").is_disabled()
    until(tab, "document.getElementById('said').textContent.startsWith('New cells were drawn')")
    settled(tab)
    shown = {number for number, *_ in tab.evaluate("drawn.centroids")}
    assert shown == set(site.cells())
    assert shown != before


def test_very_many_cells_get_their_outlines_when_the_picture_shows_few(opened, site, monkeypatch):
    monkeypatch.setattr("shoal.locations.operator_routes.MOST_OUTLINES", 12)
    tab = opened()
    settled(tab)
    assert "zoom in" in tab.inner_text("#picture-says")
    assert tab.evaluate("drawn.outlines.length") == 0
    assert tab.evaluate("drawn.centroids.length") == len(site.cells())
    number = tab.evaluate("[...cells.keys()][4]")
    tab.evaluate(f"choose({number}, true)")
    for _ in range(5):
        tab.get_by_role("button", name="Zoom in").click()
    until(tab, "drawn.outlines.length > 0")
    assert number in tab.evaluate("drawn.outlines")


def test_what_the_service_answers_is_text_and_never_markup(opened, site):
    tab = opened(key=False)
    tab.route(
        "**/metrics",
        lambda route: route.fulfill(body='shoal_promise_holds{promise="<img src=x onerror=alert(1)>"} 0\n'),
    )
    enter(tab, site.asked.operator)
    until(tab, "drawn.centroids.length > 0")
    assert tab.inner_text("#promises li span") == "<img src=x onerror=alert(1)>"
    assert tab.inner_text("#promises li b") == "✗ BROKEN"
    assert tab.said == []


def test_when_the_service_is_away_the_page_says_so(opened):
    tab = opened()
    tab.route("**/v1/**", lambda route: route.abort())
    tab.get_by_role("button", name="Refresh").click()
    until(tab, "document.getElementById('said').textContent === 'The service does not answer.'")
    assert tab.is_visible("#view")
