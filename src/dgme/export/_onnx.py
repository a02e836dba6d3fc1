"""The law as an ONNX model."""

from os import PathLike
from pathlib import Path

from dgme._files import write_atomically
from dgme._optional import installed_by
from dgme.export._frozen import freeze


def to_onnx(model, path: str | PathLike, *, n_posterior_samples: int | None = None) -> None:
    """Write a model's law for ONNX runtimes, which exist for most languages and devices.

    The input X takes any number of rows in double precision. The outputs are the weights, means and
    scales of each row's components, or weights and probabilities of a classifier: those of
    `predict_dist`. What the features, outputs and groups are is in the model's metadata, under the
    key "dgme".

    Parameters
    ----------
    model : estimator
        A fitted regressor or classifier with networks of `dgme.nn`. Of a model of tables, the graph
        takes the features that its encoder makes.
    path : str or path
        The file; one that is there is replaced.
    n_posterior_samples : int, optional
        As in `predict_dist`. The samples are drawn now, and are the same for every row.
    """
    with installed_by("onnx"):
        from dgme.export._onnx_law import onnx_law
    write_atomically(Path(path), onnx_law(freeze(model, n_posterior_samples)))
