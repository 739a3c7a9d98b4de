# SPDX-License-Identifier: Apache-2.0
"""The list of tests that a run on GPUs leaves out: each is there."""

import pathlib
import re

import about_the_cpu
import pytest

HERE = pathlib.Path(__file__).resolve().parent


@pytest.mark.parametrize("name", sorted(about_the_cpu.REASONS))
def test_what_is_left_out_is_there(name):
    file, _, test = name.partition("::")
    text = (HERE / file).read_text(encoding="utf-8")
    assert not test or re.search(rf"^def {re.escape(test.partition('[')[0])}\(", text, re.MULTILINE)
