# SPDX-License-Identifier: Apache-2.0
"""Helpers for tests that need a fresh interpreter: what happens at import, at exit and in a crash."""

import os
import subprocess
import sys

import pytest


@pytest.fixture
def run_python():
    """Runs code in a new interpreter. `env` adds variables, None removes one."""

    def run(code, *arguments, env=None, module=None):
        variables = {k: v for k, v in os.environ.items() if not k.startswith(("MXNET_", "OMP_", "KMP_"))}
        for name, value in (env or {}).items():
            if value is None:
                variables.pop(name, None)
            else:
                variables[name] = value
        command = [sys.executable, "-m", module] if module else [sys.executable, "-c", code]
        return subprocess.run(
            [*command, *arguments], env=variables, capture_output=True, text=True, timeout=60, check=False
        )

    return run
