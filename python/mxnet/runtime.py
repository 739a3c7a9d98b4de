# SPDX-License-Identifier: Apache-2.0
"""What this build and machine can do."""

from __future__ import annotations

from collections import OrderedDict
from typing import List, NamedTuple, Optional

from . import _core

__all__ = ["Feature", "Features", "feature_list"]


class Feature(NamedTuple):
    """A property of the build or machine."""

    name: str
    enabled: bool

    def __repr__(self) -> str:
        return f"{'✔' if self.enabled else '✖'} {self.name}"


def feature_list() -> List[Feature]:
    """All features, always the same ones in the same order."""
    return [Feature(name, enabled) for name, enabled in _core.features()]


class Features(OrderedDict):
    """The features by name; every instance is the same one."""

    instance: Optional[Features] = None

    def __new__(cls) -> Features:
        if cls.instance is None:
            made = super().__new__(cls)
            OrderedDict.__init__(made, [(feature.name, feature) for feature in feature_list()])
            cls.instance = made
        return cls.instance

    def __init__(self) -> None:  # pylint: disable=super-init-not-called
        """Nothing is left to do: __new__ filled the one instance."""

    def __repr__(self) -> str:
        return str(list(self.values()))

    def is_enabled(self, feature_name: str) -> bool:
        """Whether a feature, in any case of letters, is there. An unknown name is a RuntimeError."""
        name = feature_name.upper()
        if name not in self:
            known = ", ".join(self)
            raise RuntimeError(f"given feature {name!r}, expected one of: {known}")
        return self[name].enabled
