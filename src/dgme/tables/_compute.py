"""Arrow's functions. It makes them while it is imported, where no type checker sees them."""

from typing import Any

import pyarrow.compute

pc: Any = pyarrow.compute
