import sys
from types import SimpleNamespace

import pytest


@pytest.mark.parametrize("form", ["onnx", "stablehlo"])
def test_the_form_is_chosen(house_model, dgme, tmp_path, monkeypatch, form):
    written = []

    def writer(name):
        return lambda model, path: written.append((name, model.target_name_, path))

    forms = SimpleNamespace(to_onnx=writer("onnx"), to_stablehlo=writer("stablehlo"))
    monkeypatch.setitem(sys.modules, "dgme.export", forms)
    out = tmp_path / "model.out"
    done = dgme("export", house_model.model, "--to", form, "-o", out)
    assert (done.code, done.out, done.err) == (0, "", f"wrote {out}\n")
    assert written == [(form, "price", out)]
