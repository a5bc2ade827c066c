"""The page in a real browser: search, sort, class switch, and no complaint in the console."""

from __future__ import annotations

import re
import shutil

import pytest

from bearsketch.report import Subject, render
from tests.report.conftest import HOSTILE, learned

sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
NAMES = ("chromium", "chromium-browser", "google-chrome")
CHROMIUM = next((found for name in NAMES if (found := shutil.which(name))), None)
if CHROMIUM is None:
    pytest.skip("chromium is not installed", allow_module_level=True)


@pytest.fixture(scope="module")
def browser():
    with sync_api.sync_playwright() as play:
        started = play.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield started
        started.close()


@pytest.fixture
def open_page(browser, tmp_path):
    """Open a page; when the test ends, the console must have been silent."""
    contexts, said = [], []

    def opened(subjects, **options):
        file = tmp_path / "report.html"
        file.write_bytes(render(subjects).encode())
        context = browser.new_context(**options)
        contexts.append(context)
        page = context.new_page()
        page.on("console", lambda message: said.append(message.text))
        page.on("pageerror", lambda error: said.append(str(error)))
        page.on("dialog", lambda dialog: (said.append(dialog.message), dialog.dismiss()))
        page.on("request", lambda r: None if r.url.startswith("file:") else said.append(r.url))
        page.goto(file.as_uri())
        return page

    yield opened
    for context in contexts:
        context.close()
    assert said == []


def names(page):
    return page.locator("#features tbody .name").all_inner_texts()


def weights(page):
    shown = page.locator("#features tbody .value").all_inner_texts()
    return [float(text.replace("−", "-")) for text in shown]


def test_search_finds_and_says_when_nothing_matches(open_page, three):
    page = open_page([Subject("m.bear", three)])
    page.fill("#search", "ALPHA")
    assert names(page) == ["alpha"]
    page.fill("#search", "nothing like it")
    assert names(page) == []
    assert page.inner_text("#shown") == "No feature matches."
    page.fill("#search", "")
    assert len(names(page)) == len(three.selected())


def test_columns_sort_both_ways(open_page, three):
    page = open_page([Subject("m.bear", three)])
    page.click("th[data-key=name] button")
    assert names(page) == sorted(names(page))
    page.click("th[data-key=name] button")
    assert names(page) == sorted(names(page), reverse=True)
    assert page.get_attribute("th[data-key=name]", "aria-sort") == "descending"
    page.click("th[data-key=w0] button")
    assert weights(page) == sorted(weights(page), reverse=True)
    page.click("th[data-key=rank] button")
    assert names(page) == three.selected().names


def test_the_class_switch_shows_that_class(open_page, three):
    page = open_page([Subject("m.bear", three)])
    page.select_option("#class", label="bee")
    chosen = three.selected()
    order = sorted(range(len(chosen)), key=lambda i: -chosen.all_weights[i, 1])
    assert names(page)[0] == chosen.names[order[0]] == "beta"
    assert weights(page)[0] == pytest.approx(chosen.all_weights[order[0], 1], rel=1e-2)
    assert set(page.locator("#features tbody .label").all_inner_texts()) == {"bee"}
    page.select_option("#class", label="strongest")
    assert names(page) == chosen.names


def test_two_classes_mirror_each_other(open_page, hostile):
    page = open_page([Subject("m.bear", hostile)])
    page.select_option("#class", index=1)
    first = dict(zip(names(page), weights(page), strict=True))
    page.select_option("#class", index=2)
    second = dict(zip(names(page), weights(page), strict=True))
    assert first == {name: pytest.approx(-weight) for name, weight in second.items()}


def test_markup_in_names_is_never_run(open_page, hostile):
    page = open_page([Subject("</h1><script>alert(3)</script>", hostile)])
    assert set(HOSTILE[:2]) <= set(names(page))
    assert page.locator("img").count() == 0
    page.fill("#search", "<script>")
    assert names(page) == [HOSTILE[0]]


def test_many_features_show_a_few_first(open_page):
    model = learned([f"name{i}" for i in range(60)], [1, -1] * 300, k=60)
    page = open_page([Subject("m.bear", model)])
    assert len(names(page)) == 25
    page.click("#all")
    assert len(names(page)) == len(model.selected()) > 25
    assert page.is_hidden("#all")


def test_models_side_by_side_sort_by_either(open_page, hostile):
    labels = ["</title>", "spam\x00"] * 150
    other = learned(HOSTILE[:2], labels, classes=["</title>", "spam\x00"], learner="mission")
    page = open_page([Subject("a.bear", hostile), Subject("b.bear", other)])
    page.click("th[data-key=w1] button")
    column = page.locator("#features tbody tr td:last-child .value").all_inner_texts()
    shown = [float(text.replace("−", "-")) for text in column if text != "–"]
    assert shown == sorted(shown, reverse=True)


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1200, 390, 320])
def test_it_fits_the_screen(open_page, three, scheme, width):
    size = {"width": width, "height": 800}
    page = open_page([Subject("m.bear", three)], color_scheme=scheme, viewport=size)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    back = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert (sum(map(int, re.findall(r"\d+", back))) < 200) == (scheme == "dark")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_stands_out(open_page, three, scheme):
    """Contrast of WCAG AA, 4.5 to 1, for every colour that text has."""
    page = open_page([Subject("m.bear", three)], color_scheme=scheme)
    ratios = page.evaluate(
        """() => {
          const value = (name) => {
            const probe = document.createElement("i");
            probe.style.color = `var(${name})`;
            document.body.append(probe);
            const parts = getComputedStyle(probe).color.match(/[\\d.]+/g).slice(0, 3).map(Number);
            probe.remove();
            const [r, g, b] = parts.map((c) => c / 255)
              .map((c) => (c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4));
            return 0.2126 * r + 0.7152 * g + 0.0722 * b;
          };
          const ratio = (a, b) => {
            const [x, y] = [value(a), value(b)].sort((p, q) => q - p);
            return (x + 0.05) / (y + 0.05);
          };
          return [["--ink", "--page"], ["--ink", "--card"], ["--soft", "--page"],
            ["--soft", "--card"], ["--soft", "--faint"], ["--neg", "--card"], ["--focus", "--page"],
            ["--good", "--good-back"], ["--fair", "--fair-back"], ["--bad", "--bad-back"]]
            .map(([a, b]) => [a + " on " + b, ratio(a, b)]);
        }"""
    )
    assert [pair for pair in ratios if pair[1] < 4.5] == []


def test_print_leaves_the_controls_out(open_page, three):
    page = open_page([Subject("m.bear", three)])
    page.emulate_media(media="print")
    assert page.is_hidden(".controls")
    assert page.is_visible("#features")
    assert page.pdf()[:5] == b"%PDF-"


def test_it_reads_without_script(open_page, three):
    page = open_page([Subject("m.bear", three)], java_script_enabled=False)
    assert names(page) == three.selected().names
