# SPDX-License-Identifier: Apache-2.0
"""What an optimizer counts and multiplies for each weight of each step."""

from __future__ import annotations

from typing import Any, Dict, List, MutableMapping, Sequence


def multiplied(
    rate: Any, indices: Sequence[Any], attribute: str, parameters: Dict[Any, Any], factors: Dict[Any, Any], names: Dict[Any, Any]
) -> List[Any]:
    """A rate for each index: times its parameter's attribute, or times a factor by the index or its name."""
    rates = []
    for index in indices:
        if index in parameters:
            factor = getattr(parameters[index], attribute)
        else:
            factor = factors[index] if index in factors else factors.get(names.get(index), 1.0)
        rates.append(rate * factor)
    return rates


def counted(counts: MutableMapping[Any, int], indices: Sequence[Any], begin: int, most: int) -> int:
    """Adds an update to the count of each index; the largest count there is then."""
    for index in indices:
        counts[index] = count = counts.get(index, begin) + 1
        most = max(most, count)
    return most
