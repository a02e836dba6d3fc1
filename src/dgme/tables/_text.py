"""What text in a table means: missing values, numbers, yes and no, moments.

A parser takes distinct values and gives null for those that it cannot read.
"""

import pyarrow as pa

from dgme.tables._compute import pc

# As they are written by spreadsheets, R, pandas, SQL and people.
MISSING = [
    "", "NA", "N/A", "n/a", "<NA>", "#N/A", "#NA", "NaN", "nan", "-nan", "NULL", "null", "Null",
    "None", "?", "-", "#DIV/0!", "#VALUE!", "#REF!", "#NUM!", "#NAME?",
]  # fmt: skip
YES_AND_NO = (("true", "false"), ("yes", "no"), ("y", "n"), ("t", "f"), ("on", "off"))
_CURRENCIES = "$€£¥₹"
_SPACES = "\\s\u00a0\u202f"


def trim(values: pa.StringArray) -> pa.StringArray:
    """Without space around them, and null where they are a mark of missing values."""
    trimmed = pc.utf8_trim_whitespace(values)
    return pc.if_else(pc.is_in(trimmed, value_set=pa.array(MISSING)), None, trimmed)


def numbers(values: pa.StringArray, decimal: str = ".") -> pa.DoubleArray:
    """Numbers, also with a currency, a percent sign or groups of three digits."""
    other = "," if decimal == "." else "."
    group = f"[{other}'{_SPACES}]"
    bare = pc.replace_substring_regex(values, f"^([+-]?)[{_CURRENCIES}{_SPACES}]+", "\\1")
    bare = pc.replace_substring_regex(bare, f"[%{_CURRENCIES}{_SPACES}]+$", "")
    number = rf"^[+-]?(\d{{1,3}}({group}\d{{3}})+|\d+)?([{decimal}]\d*)?(e[+-]?\d+)?$"
    readable = pc.or_(
        pc.and_(_matches(bare, number), _matches(bare, rf"^[+-]?[{decimal}]?\d")),
        _matches(bare, r"^[+-]?inf(inity)?$"),
    )
    plain = pc.replace_substring_regex(bare, group, "")
    if decimal == ",":
        plain = pc.replace_substring(plain, ",", ".")
    return pc.cast(pc.if_else(readable, plain, None), pa.float64())


def booleans(values: pa.StringArray) -> pa.BooleanArray:
    words = pc.utf8_lower(values)
    yes = pc.is_in(words, value_set=pa.array([*(pair[0] for pair in YES_AND_NO), "1"]))
    no = pc.is_in(words, value_set=pa.array([*(pair[1] for pair in YES_AND_NO), "0"]))
    return pc.if_else(pc.or_(yes, no), yes, None)


def instants(values: pa.StringArray) -> pa.TimestampArray:
    """ISO dates, moments (in UTC if they have a zone) and times of the day."""
    time = _matches(values, r"^\d{1,2}:\d{2}(:\d{2}(\.\d+)?)?$")
    padded = pc.replace_substring_regex(values, r"^(\d):", "0\\1:")
    whole = pc.if_else(time, pc.binary_join_element_wise("1970-01-01", padded, " "), values)
    for unit, zone in (("us", None), ("us", "UTC"), ("ns", None), ("ns", "UTC")):
        try:
            read = pc.cast(whole, pa.timestamp(unit, zone))
        except pa.ArrowInvalid:
            continue
        return pc.cast(pc.cast(read, pa.timestamp("us", zone), safe=False), pa.timestamp("us"))
    if len(values) == 1:
        return pa.nulls(1, pa.timestamp("us"))
    # One of them is none, or only some have a zone.
    return pa.concat_arrays([instants(values.slice(i, 1)) for i in range(len(values))])


def _matches(values: pa.StringArray, pattern: str) -> pa.BooleanArray:
    return pc.match_substring_regex(values, pattern, ignore_case=True)
