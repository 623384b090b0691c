"""Both editions in a real browser: nothing leaves the page, everybody can read it, and its numbers are right."""

import shutil
from collections import Counter
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest

import shoal
from shoal.report.statistics import cell

CHROMIUM = shutil.which("chromium")
playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="axe-playwright-python is not installed")
pytestmark = [
    pytest.mark.skipif(CHROMIUM is None, reason="there is no chromium on the PATH"),
    pytest.mark.filterwarnings("ignore::shoal.ShoalWarning"),
]

FLAGS = [
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync",
    "--disable-background-networking", "--disable-component-update",
]  # fmt: skip
EDITIONS, WIDTHS, SCHEMES = ("owner", "public"), (390, 1280), ("light", "dark")


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(5)
    age = rng.integers(18, 90, 300)
    return pd.DataFrame({
        "age": age,
        "income": (1000 + 40 * age + rng.normal(0, 300, 300)).round(),
        "height": rng.normal(170, 9, 300).round(1),
        "town": rng.choice(["Ulm", "Linz", "Graz", "<b>Bern</b>"], 300),
        "since": pd.to_datetime("2020-01-01") + pd.to_timedelta(rng.integers(0, 900, 300), "D"),
        "illness": rng.choice(["flu", "cold", "asthma with a long name"], 300),
        "unrelated_column_with_a_very_long_name_that_cannot_be_broken": rng.integers(0, 9, 300),
    })  # fmt: skip


@pytest.fixture(scope="module")
def release(table):
    return shoal.anonymize(
        table, 5, ["age", "income", "height", "town", "since"], ["illness"], method="refined", random_state=1
    )


@pytest.fixture(scope="module")
def pages(release, tmp_path_factory):
    """Where both editions are."""
    folder = tmp_path_factory.mktemp("pages")
    return {edition: release.report(folder / f"{edition}.html", edition=edition) for edition in EDITIONS}


@pytest.fixture(scope="module")
def browser():
    with playwright.sync_playwright() as engine:
        opened = engine.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield opened
        opened.close()


@pytest.fixture
def opened(browser):
    """A function that opens a page and notes what it asks for and says."""
    tabs = []

    def opening(path, width=1280, scheme="light"):
        tab = browser.new_page(viewport={"width": width, "height": 900}, color_scheme=scheme)
        tabs.append(tab)
        asked, said = [], []
        tab.on("request", lambda request: asked.append(request.url))
        tab.on("console", lambda message: said.append(message.text))
        tab.on("pageerror", lambda error: said.append(str(error)))
        tab.goto(path.as_uri())
        return tab, asked, said

    yield opening
    for tab in tabs:
        tab.close()


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("edition", EDITIONS)
def test_a_page_is_quiet_accessible_and_fits(pages, opened, edition, width, scheme):
    tab, asked, said = opened(pages[edition], width, scheme)
    tab.evaluate("document.querySelectorAll('details').forEach(each => each.open = true)")
    assert asked == [pages[edition].as_uri()]
    assert said == []
    assert tab.evaluate("document.documentElement.scrollWidth") <= width
    found = axe.Axe().run(tab).response["violations"]
    grave = [each for each in found if each["impact"] in ("serious", "critical")]
    assert [(each["id"], [node["html"][:120] for node in each["nodes"][:3]]) for each in grave] == []
    assert said == []
    assert asked == [pages[edition].as_uri()]


@pytest.mark.parametrize("width", WIDTHS)
def test_sentences_about_figures_have_the_room_that_the_page_has(pages, opened, width):
    tab, *_ = opened(pages["owner"], width)
    table = tab.locator("#risk .figures table").first.bounding_box()["width"]
    sentence = tab.locator("#risk .figures tbody td:last-child").first.bounding_box()["width"]
    assert table >= min(width - 60, 900)
    assert sentence >= (0.98 if width < 640 else 0.5) * table


@pytest.mark.parametrize("edition", EDITIONS)
def test_every_picture_has_a_text_and_its_table(pages, opened, edition):
    tab, *_ = opened(pages[edition])
    pictures = tab.evaluate("""[...document.querySelectorAll('svg')].map(svg => ({
        role: svg.getAttribute('role'), label: svg.getAttribute('aria-label'),
        lines: svg.closest('figure')?.querySelectorAll('details table tbody tr').length ?? 0,
        scopes: [...(svg.closest('figure')?.querySelectorAll('th') ?? [])].map(th => th.getAttribute('scope')),
        wide: svg.getBoundingClientRect().width}))""")
    assert len(pictures) >= 9
    for picture in pictures:
        assert picture["role"] == "img"
        assert len(picture["label"]) > 10
        assert picture["lines"] > 0
        assert set(picture["scopes"]) == {"row", "col"}
        assert picture["wide"] > 100
    labels = Counter(picture["label"] for picture in pictures)
    assert max(labels.values()) == 1
    ids = tab.evaluate("[...document.querySelectorAll('[id]')].map(each => each.id)")
    assert len(ids) == len(set(ids))


def test_a_keyboard_reaches_the_content_and_every_table(pages, opened):
    tab, *_ = opened(pages["owner"])
    tab.keyboard.press("Tab")
    assert tab.evaluate("document.activeElement.textContent") == "Skip to the content"
    tab.keyboard.press("Enter")
    assert tab.evaluate("document.activeElement.id") == "main"
    landmarks = ["header", "nav[aria-label]", "main", "footer"]
    assert all(tab.query_selector_all(each) for each in landmarks)
    levels = tab.evaluate("[...document.querySelectorAll('h1,h2,h3')].map(each => +each.tagName[1])")
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after <= before + 1 for before, after in pairwise(levels))


def test_pictures_take_the_colours_of_the_scheme(pages, opened):
    colours = set()
    for scheme in SCHEMES:
        tab, *_ = opened(pages["owner"], scheme=scheme)
        style = "getComputedStyle(document.querySelector('#losses svg path[style*=\"--after\"]')).fill"
        colours.add((tab.evaluate(style), tab.evaluate("getComputedStyle(document.body).backgroundColor")))
    (one, light), (other, dark) = colours
    assert one != other
    assert light != dark


def lines_of(tab, name):
    """The header and the lines of the table behind a picture."""
    table = tab.query_selector(f"#{name} details table")
    header = [each.text_content() for each in table.query_selector_all("thead th")]
    rows = [
        [each.text_content() for each in row.query_selector_all("th, td")]
        for row in table.query_selector_all("tbody tr")
    ]
    return header, rows


def figure_of(tab, title):
    """The picture with a title."""
    return next(
        each.get_attribute("id") for each in tab.query_selector_all("figure")
        if each.query_selector("h3").text_content() == title
    )  # fmt: skip


def plain(text):
    return float(text.replace("\u2009", ""))


def test_the_numbers_behind_the_pictures_are_those_of_the_tables(pages, opened, table, release):
    tab, *_ = opened(pages["owner"])
    after = release.table
    sizes = after.groupby(["age", "income", "height", "town", "since"]).size()
    _, rows = lines_of(tab, "sizes")
    assert [[plain(low), plain(high), plain(count)] for low, high, count in rows] == [
        [size, size, count] for size, count in sizes.value_counts().sort_index().items()
    ]
    header, rows = lines_of(tab, "correlations")
    assert header == ["column", "other column", "before", "after", "change"]
    numbers = ["age", "income", "height"]
    found = {(one, other): parts for one, other, *parts in rows}
    for i, other in enumerate(numbers):
        for one in numbers[:i]:
            both = [frame[numbers].corr().loc[one, other] for frame in (table, after)]
            assert found[one, other] == [cell(value) for value in (*both, both[1] - both[0])]
    _, rows = lines_of(tab, figure_of(tab, "town"))
    counts = [frame["town"].value_counts() for frame in (table, after)]
    assert {town: [plain(part) for part in parts] for town, *parts in rows} == {
        town: [part.get(town, 0) for part in counts] for town in counts[0].index
    }
    _, rows = lines_of(tab, figure_of(tab, "height"))
    for number, (low, high, *parts) in enumerate(rows):
        for frame, part in zip((table, after), parts, strict=True):
            inside = (frame["height"] >= plain(low) - 1e-4) & (frame["height"] < plain(high) + 1e-4)
            assert plain(part) == inside.sum(), number
    _, rows = lines_of(tab, "losses")
    assert {name: percent for name, percent in rows} == {  # noqa: C416
        part.name: cell(part.percent) for part in release.loss.attributes
    }
    by_hand = 100 * ((table["age"] - after["age"]) ** 2).sum() / ((table["age"] - table["age"].mean()) ** 2).sum()
    assert plain(dict(rows)["age"]) == pytest.approx(by_hand, rel=1e-4)


def test_the_map_is_that_of_the_released_values(pages, opened, release):
    days = release.table["since"].dt  # a date counts as its year and how much of it has passed
    passed = (days.day_of_year - 1) / (365 + days.is_leap_year)
    after = release.table.assign(since=days.year + passed)
    numbers = after[["age", "income", "height", "since"]]
    values = (numbers - numbers.mean()) / numbers.std(ddof=0)
    groups = values.groupby(after.groupby(["age", "income", "height", "town", "since"]).ngroup())
    centres, members = groups.mean().to_numpy(), groups.size().to_numpy()
    _, axes = np.linalg.eigh(centres.T @ (centres * members[:, None]))
    axes = axes[:, ::-1][:, :2]
    axes *= np.sign(axes[np.abs(axes).argmax(axis=0), [0, 1]])
    expected = np.column_stack([centres @ axes, members])
    for edition in EDITIONS:
        tab, *_ = opened(pages[edition])
        _, rows = lines_of(tab, "map")
        shown = np.array([[plain(part) for part in row] for row in rows])
        assert np.allclose(shown[np.argsort(shown[:, 0])], expected[np.argsort(expected[:, 0])], atol=1e-4)


def test_the_public_page_shows_released_values_only(pages, opened, table, release):
    tab, *_ = opened(pages["public"])
    header, rows = lines_of(tab, figure_of(tab, "age"))
    assert header == ["from", "below", "records after"]
    assert sum(plain(row[-1]) for row in rows) == len(table)
    assert plain(rows[0][0]) > table["age"].min()
    _, rows = lines_of(tab, "correlations")
    assert len(rows[0]) == 3
    assert "original values" not in tab.text_content("header")
    highest = release.table["income"].max()
    assert table["income"].max() > highest
    assert cell(float(table["income"].max())) not in tab.text_content("body")
    assert cell(float(highest)) in tab.text_content("body")


def test_each_attack_stands_beside_its_baseline(pages, opened):
    for edition in EDITIONS:
        tab, *_ = opened(pages[edition])
        header, rows = lines_of(tab, "attacks")
        assert header[:4] == ["attack", "success, %", "guessing, %", "control, %"]
        assert all(0 <= plain(row[1]) <= 100 for row in rows)
        assert all(row[2] != "–" for row in rows)
        assert plain(rows[0][4]) <= plain(rows[0][1]) <= plain(rows[0][5])
    tab, *_ = opened(pages["owner"])
    header, rows = lines_of(tab, "linkage")
    found = dict(zip(header, rows[0], strict=True))
    assert plain(found["found, %"]) <= plain(found["1/k, %"]) == 20
    assert tab.query_selector("#search")
