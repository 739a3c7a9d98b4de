# SPDX-License-Identifier: Apache-2.0
# The binding, native or on ctypes, as type checkers see it: it converts, and what it converts to is said where it is used.
from typing import Any

def __getattr__(name: str) -> Any: ...
