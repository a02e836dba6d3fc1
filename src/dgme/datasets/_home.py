import os
from pathlib import Path


def find(relative: str) -> Path:
    """A file or folder below the folder that the environment variable DGME_DATA names."""
    home = os.environ.get("DGME_DATA")
    if not home:
        raise FileNotFoundError(
            f"{relative} is needed, but the environment variable DGME_DATA is not set. "
            "Set it to the folder that holds it."
        )
    path = Path(home) / relative
    if not path.exists():
        raise FileNotFoundError(f"{relative} was not found in DGME_DATA={home}.")
    return path
