import argparse
import sys
from importlib import import_module
from pathlib import Path

import benchmarks
from benchmarks.machine import describe
from benchmarks.report import show, write
from benchmarks.timing import progress

# Each is a module with a function `measure`. Start-up comes first, while the machine is quiet.
NAMES = ("startup", "compilation", "training", "methods", "scaling", "density", "export", "tables")


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=benchmarks.__doc__)
    parser.add_argument("--only", choices=NAMES, help="run one of the benchmarks")
    chosen = parser.parse_args().only
    names = (chosen,) if chosen else NAMES
    try:
        modules = [import_module(f"benchmarks.{name}") for name in names]
    except ModuleNotFoundError as error:
        if error.name not in ("torch", "onnx", "onnxruntime"):
            raise
        sys.exit(f"The comparison needs {error.name}: pip install -e '.[bench]'")
    machine, results = describe(), {}
    for name, module in zip(names, modules, strict=True):
        progress(f"{name}:")
        results[name] = list(module.measure())
    show(results, machine)
    path = write(results, machine, Path(__file__).parent / "results")
    progress(f"Written to {path}")


if __name__ == "__main__":
    main()
