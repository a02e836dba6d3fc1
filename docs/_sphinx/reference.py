"""Writes the reference from the code, so that no public name can be forgotten.

An estimator or a law has a page of its own, a room has one for all that it offers. The verbs that
all estimators share are told once, with the class that they come from.
"""

import inspect
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

from sklearn.base import BaseEstimator

import dgme
from dgme.distributions import GaussianMixture
from dgme.estimators import DensityClassifier, DensityRegressor
from dgme.metrics._scorers import DensityScorer

FOLDER = Path(__file__).parents[1] / "api"
Laws = GaussianMixture.__base__
# What model files and exports ask of an estimator, and a verb whose docstring skpro replaces.
INTERNAL = {"draw_parameters", "dump_state", "load_state", "pdfnorm"}


def heading(text: str, line: str = "=") -> str:
    return f"{text}\n{line * len(text)}\n\n"


def directive(name: str, argument: str = "", *lines: str) -> str:
    return f".. {name}:: {argument}\n" + "".join(f"   {line}\n" for line in lines) + "\n"


def summary(names: list[str]) -> str:
    return directive("autosummary", "", ":nosignatures:", "", *names)


def public_names(room: ModuleType) -> list[str]:
    """What a room offers: its own functions and classes, and those of its private modules.

    What `dgme` itself offers has its page elsewhere.
    """
    return [
        name
        for name, value in sorted(vars(room).items())
        if name[0] != "_"
        and (inspect.isclass(value) or inspect.isfunction(value))
        and f"{value.__module__}.".startswith(f"{room.__name__}.")
        and name in getattr(room, "__all__", [name])
        and value is not getattr(dgme, name, None)
    ]


def parts(room: ModuleType) -> Iterator[ModuleType]:
    """The modules that a room offers by name, such as `dgme.datasets.toy`."""
    for name, value in sorted(vars(room).items()):
        if (
            name[0] != "_"
            and inspect.ismodule(value)
            and value.__name__ == f"{room.__name__}.{name}"
        ):
            yield value


def is_ours(value) -> bool:
    return value.__module__.startswith("dgme.")


def own_verbs(kind: type, base: type = object) -> list[str]:
    """The methods of an estimator in the order of the alphabet, without those of a base."""
    classes = [c for c in kind.__mro__ if is_ours(c)]
    return sorted(
        name
        for name in {name for c in classes for name in vars(c)} - set(dir(base))
        if name[0] != "_" and inspect.isfunction(inspect.getattr_static(kind, name))
    )


def entry(owner: ModuleType, name: str) -> str:
    value = getattr(owner, name)
    if not inspect.isclass(value):
        return directive("autofunction", name)
    options = [":members:"]
    # A private base has no entry of its own; the verbs of estimators are told elsewhere.
    private = any(base.__name__[0] == "_" and is_ours(base) for base in value.__mro__)
    if private and not issubclass(value, BaseEstimator):
        options.append(":inherited-members: object")
    return directive(
        "autoexception" if issubclass(value, Exception) else "autoclass", name, *options
    )


def scorers(room: ModuleType) -> str:
    """The scorers that a room offers, which are objects and so have no docstring."""
    return "".join(
        directive("py:data", name, "", f"The negative of `{value.metric.__name__}`, as a scorer.")
        for name, value in sorted(vars(room).items())
        if isinstance(value, DensityScorer)
    )


def room_page(room: ModuleType, line: str = "=") -> str:
    text = heading(room.__name__, line) + directive("automodule", room.__name__)
    if names := public_names(room):
        text += summary(names) + "".join(entry(room, name) for name in names)
    text += scorers(room)
    return text + "".join(room_page(part, "-") for part in parts(room))


def estimator_page(name: str, base: type) -> str:
    verbs = ", ".join(own_verbs(getattr(dgme, name), base))
    text = heading(name) + directive("currentmodule", "dgme")
    text += directive("autoclass", name, f":members: {verbs}")
    return text + f"All other verbs are those of :class:`~dgme.estimators.{base.__name__}`.\n"


def law_page(name: str) -> str:
    text = heading(name) + directive("currentmodule", "dgme")
    return text + directive("autoclass", name, ":members:", ":inherited-members: object")


def family_page(title: str, names: list[str], base: type | None = None) -> str:
    text = heading(title) + directive("currentmodule", "dgme") + summary(names)
    text += directive("toctree", "", ":hidden:", "", *names)
    if base is not None:
        text += heading(f"What all {title.lower()} can do", "-")
        verbs = ", ".join(own_verbs(base))
        text += directive("autoclass", f"dgme.estimators.{base.__name__}", f":members: {verbs}")
    return text


def rooms_page() -> str:
    text = heading("Rooms") + summary([f"dgme.{name}" for name in sorted(dgme._ROOMS)])
    return text + directive("toctree", "", ":hidden:", ":glob:", "", "rooms/*")


def pages() -> dict[str, str]:
    """The text of every page, by its path."""
    families = {base: [] for base in (DensityRegressor, DensityClassifier, Laws, object)}
    for name in dgme.__all__:
        value = getattr(dgme, name)
        kind = value if inspect.isclass(value) else object
        families[next(base for base in families if issubclass(kind, base))].append(name)
    regressors, classifiers, laws, other = families.values()
    return {
        "regressors": family_page("Regressors", regressors, DensityRegressor),
        "classifiers": family_page("Classifiers", classifiers, DensityClassifier),
        "laws": family_page("Laws", laws),
        "rooms": rooms_page(),
        "other": heading("Other names")
        + directive("currentmodule", "dgme")
        + summary(other)
        + "".join(entry(dgme, name) for name in other),
        **{name: estimator_page(name, DensityRegressor) for name in regressors},
        **{name: estimator_page(name, DensityClassifier) for name in classifiers},
        **{name: law_page(name) for name in laws},
        **{f"rooms/{name}": room_page(getattr(dgme, name)) for name in dgme._ROOMS},
    }


def write(app) -> None:
    for old in FOLDER.rglob("*.rst"):
        old.unlink()
    for path, text in pages().items():
        page = FOLDER / f"{path}.rst"
        page.parent.mkdir(exist_ok=True)
        page.write_text(text, "utf-8")


def is_noise(app, what, name: str, value, skip: bool, options) -> bool | None:
    """Whether a member was put into a class by others; None leaves it to Sphinx."""
    foreign = inspect.isfunction(value) and not value.__module__.startswith("dgme")
    bare_field = "Alias for field number" in (inspect.getdoc(value) or "")
    return True if foreign or bare_field or name in INTERNAL else None


def setup(app) -> dict[str, bool]:
    app.connect("builder-inited", write)
    app.connect("autodoc-skip-member", is_noise)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
