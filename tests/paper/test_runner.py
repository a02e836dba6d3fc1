"""A run that was killed goes on where it was, and ends with the same tables."""

import io
import json
import re
from dataclasses import dataclass

import matplotlib.pyplot as plt
import pytest
from rich.console import Console

from dgme.cli.paper import paper
from dgme.paper import experiments, report, runner
from dgme.paper.experiment import Figure, Result, Task
from dgme.paper.journal import Journal, key_of
from dgme.paper.tables import Cell, Published, ResultTable


@dataclass(frozen=True)
class Settings:
    runs: int = 2


class Squares:
    """Two tasks of some results each, and a figure; `calls` tells what was run."""

    name = "squares"

    def __init__(self, settings=None, fails_at=None):
        self.settings, self.fails_at, self.calls = settings or Settings(), fails_at, []

    def tasks(self):
        return [Task({"number": n}, lambda n=n: self.run(n)) for n in (3, 4)]

    def run(self, n):
        self.calls.append(n)
        for run in range(self.settings.runs):
            if (n, run) == self.fails_at:
                raise KeyboardInterrupt
            yield Result({"number": n, "run": run}, {"square": float(n * n + run)})

    def figures(self):
        return [Figure("curve", "A curve & more", self.draw)]

    def draw(self):
        self.calls.append("curve")
        figure, ax = plt.subplots()
        ax.plot([0, 1])
        return figure

    def tables(self, results):
        cells = {
            ("square", str(n)): Cell.of(
                [r.scores["square"] for r in results if r.of["number"] == n], Published(10.0, 0.5)
            )
            for n in (3, 4)
        }
        return [ResultTable("Squares", ["square"], ["3", "4"], cells, note="By hand <&>")]


def tables(folder, **arguments):
    experiment = Squares(**arguments)
    [output] = runner.run([experiment], folder, seed=0)
    return experiment.calls, output


def test_everything_runs_once(tmp_path):
    calls, output = tables(tmp_path)
    assert calls == [3, 4, "curve"]
    assert output.tables[0].cells["square", "4"][:2] == (16.5, 0.5)
    assert {path.suffix for path in (tmp_path / "figures").iterdir()} == {".svg", ".png"}
    calls, again = tables(tmp_path)
    assert calls == []
    assert again.tables == output.tables


def test_a_task_that_was_interrupted_is_run_again(tmp_path):
    with pytest.raises(KeyboardInterrupt):
        tables(tmp_path, fails_at=(4, 1))
    calls, resumed = tables(tmp_path)
    assert calls == [4, "curve"]
    assert resumed.tables == tables(tmp_path / "whole")[1].tables


@pytest.mark.parametrize("cut", range(1, 400, 13))
def test_a_journal_may_end_anywhere(tmp_path, cut):
    _, whole = tables(tmp_path)
    journal = tmp_path / runner.JOURNAL
    content = journal.read_bytes()
    journal.write_bytes(content[: len(content) * cut // 400])
    calls, resumed = tables(tmp_path)
    assert resumed.tables == whole.tables
    # Afterwards it is whole again.
    assert tables(tmp_path)[0] == []
    assert len(calls) >= 1


def test_a_figure_that_was_deleted_is_drawn_again(tmp_path):
    tables(tmp_path)
    (tmp_path / "figures" / "curve.svg").unlink()
    assert tables(tmp_path)[0] == ["curve"]


def test_results_of_other_settings_seeds_or_code_are_not_taken_up(tmp_path, monkeypatch):
    tables(tmp_path)
    assert tables(tmp_path, settings=Settings(runs=3))[0] == [3, 4, "curve"]
    other_seed = Squares()
    runner.run([other_seed], tmp_path, seed=1)
    assert other_seed.calls == [3, 4, "curve"]
    monkeypatch.setattr(runner, "_code", lambda: "another")
    assert tables(tmp_path)[0] == [3, 4, "curve"]


def test_lines_tell_all_about_a_result(tmp_path):
    tables(tmp_path)
    lines = [json.loads(line) for line in (tmp_path / runner.JOURNAL).read_text().splitlines()]
    assert [line["scores"] for line in lines[:2]] == [{"square": 9.0}, {"square": 10.0}]
    for line in lines:
        assert line["settings"] == {"runs": 2}
        assert line["experiment"] == "squares"
        assert {"seed", "seconds", "data", "versions", "code"} <= set(line)
        assert "jax" in line["versions"]


def test_a_journal_keeps_tasks_apart(tmp_path):
    path = tmp_path / "folder" / "journal.jsonl"
    a, b = key_of(task="a"), key_of(task="b")
    assert a != b
    assert a == key_of(task="a")
    journal = Journal(path)
    journal.append(b, {}, [Result({"x": 1}, {"s": 0.1})])
    journal.append(a, {}, [Result({"x": 2}, {"s": 0.2}), Result({"x": 3}, {"s": float("nan")})])
    for read in (journal, Journal(path)):
        assert a in read
        assert [result.of["x"] for result in read.results([a, b])] == [2, 3, 1]


def test_reports_show_the_same_on_every_medium(tmp_path):
    _, output = tables(tmp_path)
    console = Console(width=100, record=True, file=io.StringIO())
    report.show([output], console)
    markdown, page = (path.read_text("utf-8") for path in report.write([output], tmp_path))
    for text in (console.export_text(), markdown, page):
        for words in ("Squares", "9.50 ± 0.50", "16.50 ± 0.50", "10.00 ± 0.50 ✓", "✗", "1 of 2"):
            assert words in text
    assert "**9.50 ± 0.50**" in markdown
    assert "<b>9.50 ± 0.50</b>" in page
    assert "By hand &lt;&amp;&gt;" in page
    assert "(figures/curve.svg)" in markdown


def test_the_page_needs_nothing_else(tmp_path):
    _, output = tables(tmp_path)
    page = report.html([output])
    sources = re.findall(r'(?:src|href)="([^"]*)"', page)
    assert any(source.startswith("data:image/svg+xml;base64,") for source in sources)
    assert all(source.startswith(("data:", "#")) for source in sources)
    assert "<script" not in page


def test_the_command_goes_on_or_begins_anew(tmp_path, monkeypatch, capsys):
    experiment = Squares(fails_at=(4, 0))
    monkeypatch.setattr(experiments, "make", lambda name, **settings: experiment)
    with pytest.raises(SystemExit) as end:
        paper("toy", out=tmp_path)
    assert end.value.code == 130
    assert "go on" in capsys.readouterr().err
    experiment.fails_at = None
    paper("toy", out=tmp_path)
    assert experiment.calls == [3, 4, 4, "curve"]
    assert "1 of 2 cells" in capsys.readouterr().out
    assert (tmp_path / "report.html").exists()
    paper("toy", out=tmp_path, resume=False)
    assert experiment.calls[4:] == [3, 4, "curve"]


def test_settings_can_be_changed_from_the_command():
    assert experiments.make("uci", splits=3, runs=7).settings.splits == 3
    assert experiments.make("toy", runs=7).settings.runs == 7
    for name in experiments.NAMES:
        quick, full = (experiments.make(name, quick=q) for q in (True, False))
        assert type(quick.settings) is type(full.settings)
        assert quick.settings != full.settings
        assert sum(t.cost for t in quick.tasks()) < sum(t.cost for t in full.tasks())
