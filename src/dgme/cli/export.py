from pathlib import Path
from typing import Literal

from dgme.cli._app import Out, check_output, failing_in_words, say


def export(model: Path, *, to: Literal["stablehlo", "onnx"], out: Out) -> None:
    """Write a model in a form that runs without dgme.

    `dgme export houses.dgme --to onnx -o houses.onnx`

    Parameters
    ----------
    model
        A file that `dgme fit` or `save` wrote.
    to
        The form: "stablehlo", which JAX runs, or "onnx".
    out
        The file to write.
    """
    with failing_in_words():
        check_output(out, model)
        from dgme.cli._models import load_model

        fitted = load_model(model)
        from dgme.export import to_onnx, to_stablehlo

        write = {"stablehlo": to_stablehlo, "onnx": to_onnx}[to]
        write(fitted, out)
    say(f"wrote {out}")
