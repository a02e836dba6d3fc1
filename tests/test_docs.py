"""What the documentation shows runs as it stands."""

import os
import re

import pytest
from docs.examples import PAGES, ROOT, run

NEED_DATA = {"docs/data.md"}


@pytest.mark.parametrize("page", PAGES)
def test_examples_run(page, tmp_path, monkeypatch):
    if page in NEED_DATA and "DGME_DATA" not in os.environ:
        pytest.skip("needs the data that DGME_DATA names")
    monkeypatch.chdir(tmp_path)
    run(PAGES[page])


@pytest.mark.parametrize("page", ["README.md", "CONTRIBUTING.md", *PAGES])
def test_links_lead_somewhere(page):
    text = (ROOT / page).read_text("utf-8")
    targets = re.findall(r"\]\(([^)#]+)", text)
    assert [
        t for t in targets if "://" not in t and not (ROOT / page).parent.joinpath(t).exists()
    ] == []


def test_every_picture_is_shown():
    pages = [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]
    shown = {
        name for page in pages for name in re.findall(r"pictures/(\w+\.png)", page.read_text())
    }
    assert shown == {picture.name for picture in (ROOT / "docs" / "pictures").iterdir()}
