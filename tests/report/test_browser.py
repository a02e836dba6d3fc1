"""The report in a browser: what it loads, what it complains of, and whether it fits a phone.

Chromium's windows are at least 500 pixels wide, so the phone is a frame in a page. In a frame of
its own text (srcdoc) scripts may look at what is laid out; the report itself has none.
"""

import html
import json
import re
import shutil
import subprocess
from pathlib import Path
from types import SimpleNamespace

import pytest

CHROMIUM = next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None
)
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no Chromium; make browser-test has one")

FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--enable-logging=stderr",
    "--virtual-time-budget=2000",
)
# Chromium's own words on the machine that it runs on, beside what pages say.
CONSOLE = re.compile(r":CONSOLE[:(]")

PROBE = """
<iframe style="width:390px;height:3000px;border:0" srcdoc="{page}"></iframe>
<script>
const frame = document.querySelector("iframe");
frame.addEventListener("load", () => {{
  const page = frame.contentDocument, root = page.documentElement;
  const seen = element => element.getBoundingClientRect();
  const luminance = colour => {{
    const [r, g, b] = colour.match(/[\\d.]+/g).map(Number);
    return (0.299 * r + 0.587 * g + 0.114 * b) / 255;
  }};
  const colour = (element, name) => luminance(getComputedStyle(element)[name]);
  const texts = [...page.querySelectorAll("svg text")];
  const found = {{
    width: root.scrollWidth,
    shown: root.clientWidth,
    scrolling: [...page.querySelectorAll(".scroll")].filter(
      box => box.scrollWidth > box.clientWidth).length,
    figures: [...page.querySelectorAll("svg")].map(svg => seen(svg).width),
    heights: texts.map(text => seen(text).height),
    broken: [...page.images].filter(image => !image.naturalWidth).length,
    requests: frame.contentWindow.performance.getEntriesByType("resource").map(e => e.name),
    paper: colour(page.body, "backgroundColor"),
    ink: texts.map(text => colour(text, "fill")),
    overlaps: texts.flatMap((text, i) => texts.slice(i + 1)
      .filter(other => other.ownerSVGElement === text.ownerSVGElement)
      .filter(other => {{
        const [a, b] = [seen(text), seen(other)];
        return Math.min(a.right, b.right) - Math.max(a.left, b.left) > 1
          && Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 2;
      }}).map(other => text.textContent + " / " + other.textContent)),
  }};
  const told = document.createElement("pre");
  told.id = "told";
  told.textContent = JSON.stringify(found);
  document.body.append(told);
}});
</script>
"""


def browse(path: Path, folder: Path, *flags: str) -> tuple[str, list[str]]:
    """The page as laid out, and what it wrote to the console."""
    done = subprocess.run(
        [str(CHROMIUM), *FLAGS, f"--user-data-dir={folder}", *flags, path.as_uri()],
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    return done.stdout, [line for line in done.stderr.splitlines() if CONSOLE.search(line)]


def laid_out(page: str, folder: Path, *flags: str) -> SimpleNamespace:
    probe = folder / "probe.html"
    probe.write_text(PROBE.format(page=html.escape(page)), "utf-8")
    content, complaints = browse(probe, folder / "profile", "--dump-dom", *flags)
    told = re.search(r'<pre id="told">(.*?)</pre>', content, re.S)
    assert told, complaints
    return SimpleNamespace(**json.loads(html.unescape(told[1])), complaints=complaints)


@pytest.fixture(scope="module")
def light(page, tmp_path_factory):
    return laid_out(page, tmp_path_factory.mktemp("light"))


@pytest.fixture(scope="module")
def dark(page, tmp_path_factory):
    # 0 is dark
    return laid_out(
        page, tmp_path_factory.mktemp("dark"), "--blink-settings=preferredColorScheme=0"
    )


def test_nothing_is_missing_and_nothing_is_asked_for(light):
    assert light.complaints == []
    assert light.broken == 0
    assert light.requests == []


def test_a_phone_shows_all_of_the_width(light):
    """Wide tables scroll in boxes of their own; figures are as wide as the page and readable."""
    assert light.width == light.shown <= 390
    assert light.scrolling > 0
    assert min(light.figures) > 300
    assert min(light.heights) > 7


def test_no_label_lies_on_another(light):
    assert light.overlaps == []


def test_ink_stands_out_from_paper_by_light_and_by_dark(light, dark):
    assert light.paper > 0.9
    assert max(light.ink) < 0.3
    assert dark.paper < 0.2
    assert min(dark.ink) > 0.7
    assert len(dark.ink) == len(light.ink) > 50


def test_it_prints(path, tmp_path):
    pdf = tmp_path / "report.pdf"
    browse(path, tmp_path / "profile", f"--print-to-pdf={pdf}", "--no-pdf-header-footer")
    assert pdf.read_bytes().startswith(b"%PDF")
    assert 3 <= pdf.read_bytes().count(b"/Type /Page\n") <= 20
