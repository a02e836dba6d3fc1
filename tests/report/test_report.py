import re
from html import unescape
from html.parser import HTMLParser

import numpy as np
import pytest

from dgme import GaussianMixture, evaluate, report
from dgme.report._svg import svg


class Elements(HTMLParser):
    """All opening tags with their attributes; every closing tag must match."""

    VOID = frozenset({"meta", "link", "br", "img"})

    def __init__(self, page: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict]] = []
        self.open: list[str] = []
        self.feed(page)
        assert not self.open

    def handle_starttag(self, tag, attrs):
        self.found.append((tag, dict(attrs)))
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.found.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


@pytest.fixture(scope="module")
def elements(page):
    return Elements(page).found


def test_the_page_needs_nothing_but_itself(page, elements):
    assert not {tag for tag, _ in elements} & {"script", "iframe", "object", "audio", "video"}
    targets = [
        value
        for _, attributes in elements
        for name, value in attributes.items()
        if name in ("src", "href", "xlink:href", "srcset")
    ]
    assert all(target.startswith(("#", "data:")) for target in targets)
    assert "url(http" not in page
    assert "@import" not in page


def test_parts_of_figures_have_names_of_their_own(page, elements):
    names = [attributes["id"] for _, attributes in elements if "id" in attributes]
    assert len(names) == len(set(names))
    referred = re.findall(r'(?:url\(#|href="#)([^)"]+)', page)
    assert referred
    assert set(referred) <= set(names)


def test_figures_say_in_words_what_they_show(page, elements):
    drawings = [attributes for tag, attributes in elements if tag == "svg"]
    assert len(drawings) == page.count("<figcaption>") == 11
    for drawing in drawings:
        assert drawing["role"] == "img"
        assert len(drawing["aria-label"]) > 60


def test_figures_take_their_ink_from_the_page(page):
    drawn = page[page.index("<svg") :]
    assert "currentColor" in drawn
    assert "var(--series-0)" in drawn
    assert not re.search("#000000|#010203|#0072b2", drawn)


def test_the_same_figure_is_drawn_alike():
    def draw(ax):
        ax.plot([1, 2], [3, 4], "o", label="dots")
        ax.legend()

    assert svg(draw, "one", "Dots", "Two.") == svg(draw, "one", "Dots", "Two.")


def test_names_of_the_user_are_text(page):
    """Twice as the title, and as the name of a feature in two tables; a figure has a part of it."""
    assert "<script" not in page
    assert page.count("&lt;script&gt;alert(1)&lt;/script&gt;") == 4


def test_scores_are_those_of_all_rows(page, subject):
    scores = evaluate(subject.model.predict_dist(subject.X), subject.y)
    text = unescape(re.sub("<[^>]*>", "|", page)).replace("−", "-")
    for name, estimate in {
        "root mean squared error": scores.rmse,
        "log score": scores.log_score,
        "CRPS": scores.crps,
    }.items():
        assert "||".join([f"|{name}", *(f"{value:#.4g}" for value in estimate)]) in text


def test_the_rows_in_question_are_listed(page, subject):
    law = subject.model.predict_dist(subject.X)
    tables = {
        "Rows that surprised the model most": np.argmin(law.logpdf(subject.y)),
        "Rows that the model knows least about": np.argmax(law.epistemic_variance()),
    }
    for title, row in tables.items():
        body = page[page.index(f"<h3>{title}") :]
        first = re.findall(r"<t[hd][^>]*>([^<]*)</t[hd]>", body[body.index("<tbody>") :])
        assert first[0] == str(row)
        assert float(first[1].replace("−", "-")) == pytest.approx(subject.y[row], rel=1e-3)
        assert f"{subject.X.iloc[row]['slope']:.4g}".replace("-", "−") in first[6:9]


def test_a_model_without_posterior_says_so(subject, tmp_path):
    model, X = subject.model, subject.X

    class Trained:
        """The same model under the parameters as they were trained."""

        def predict_dist(self, X, n_posterior_samples=None):
            return model.predict_dist(X, n_posterior_samples=0)

    scores = report.write(tmp_path / "report.html", Trained(), X, subject.y)
    assert scores == evaluate(Trained().predict_dist(X), subject.y)
    page = (tmp_path / "report.html").read_text("utf-8")
    assert "one set of parameters" in page
    assert "Noise and ignorance" not in page
    assert "knows least about" not in page
    assert "epistemic std" not in page
    assert "Trained of target on 100 rows" in page


class Copy:
    """Predicts the same law for every row, of two targets."""

    def predict_dist(self, X, n_posterior_samples=None):
        from dgme import VectorGaussianMixture

        n = len(X)
        return VectorGaussianMixture([1.0], np.zeros((n, 1, 2)), np.tile([1.0, 5.0], (n, 1, 1)))


def test_one_of_several_targets_and_two_rows(tmp_path):
    y = np.array([[0.5, 50.0], [-0.5, -50.0]])
    path = tmp_path / "report.html"
    report.write(path, Copy(), np.zeros((2, 1)), y, target=1)
    told = "2 of 2 targets lie where their law puts less than one in a million"
    assert told in path.read_text("utf-8")
    with pytest.raises(ValueError, match=r"y has 2 targets, .* target=0 to target=1"):
        report.write(path, Copy(), np.zeros((2, 1)), y)
    with pytest.raises(ValueError, match="target=2 needs y of shape"):
        report.write(path, Copy(), np.zeros((2, 1)), y, target=2)


def test_errors_come_before_the_work_and_leave_no_file(subject, tmp_path):
    path = tmp_path / "report.html"
    with pytest.raises(FileNotFoundError, match=r"no folder .*nowhere\. Create it first"):
        report.write(tmp_path / "nowhere" / "report.html", subject.model, subject.X, subject.y)
    with pytest.raises(ValueError, match="one target for each of the 100 rows of X"):
        report.write(path, subject.model, subject.X, subject.y[1:])
    y = np.where(np.arange(100) == 3, np.inf, subject.y)
    with pytest.raises(ValueError, match="1 of its 100 entries are not, the first in row 3"):
        report.write(path, subject.model, subject.X, y)
    with pytest.raises(ValueError, match=r"X\.reshape\(-1, 1\)"):
        report.write(path, subject.model, np.zeros(100), subject.y)
    with pytest.raises(TypeError, match="model must be a fitted regressor with predict_dist"):
        report.write(path, GaussianMixture([1.0], [0.0], [1.0]), subject.X, subject.y)
    assert not path.exists()
    assert not list(tmp_path.iterdir())
