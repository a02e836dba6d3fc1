"""What the documentation shows runs as it stands."""

import os
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGES = {
    str(path.relative_to(ROOT)): blocks
    for path in [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
    if (blocks := re.findall(r"^```python\n(.*?)^```", path.read_text("utf-8"), re.M | re.S))
}
NEED_DATA = {"docs/data.md"}


@pytest.mark.parametrize("page", PAGES)
def test_examples_run(page, tmp_path, monkeypatch):
    if page in NEED_DATA and "DGME_DATA" not in os.environ:
        pytest.skip("needs the data that DGME_DATA names")
    monkeypatch.chdir(tmp_path)
    names = {}
    for block in PAGES[page]:
        exec(compile(block, page, "exec"), names)


@pytest.mark.parametrize("page", ["README.md", "CONTRIBUTING.md", *PAGES])
def test_links_lead_somewhere(page):
    text = (ROOT / page).read_text("utf-8")
    targets = re.findall(r"\]\(([^)#]+)", text)
    assert [
        t for t in targets if "://" not in t and not (ROOT / page).parent.joinpath(t).exists()
    ] == []
