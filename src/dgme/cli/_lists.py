"""Lists that are one argument on the command line, separated by commas."""

from typing import Annotated

from cyclopts import Parameter


def _names(type_, tokens) -> tuple[str, ...]:
    return tuple(name for name in tokens[0].value.split(",") if name)


def _shares(type_, tokens) -> tuple[float, ...]:
    """Numbers strictly between 0 and 1, each once."""
    return tuple(dict.fromkeys(map(_share, _names(type_, tokens))))


def _share(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        raise ValueError(f"{text!r} is no number. Separate numbers by commas.") from None
    if not 0 < value < 1:
        raise ValueError(f"{text} does not lie strictly between 0 and 1; 90 % is 0.9.")
    return value


Names = Annotated[tuple[str, ...], Parameter(converter=_names, n_tokens=1, negative="")]
Shares = Annotated[tuple[float, ...], Parameter(converter=_shares, n_tokens=1, negative="")]
