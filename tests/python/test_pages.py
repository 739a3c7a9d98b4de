# SPDX-License-Identifier: Apache-2.0
"""What README.md and docs/ show of Python runs as it stands there: each ```python block, in a folder of its own."""

import os
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
BLOCK = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
BLOCKS = {
    f"{page.relative_to(ROOT)}:{text.count(chr(10), 0, found.start()) + 1}": found.group(1)
    for page in PAGES
    for text in [page.read_text(encoding="utf-8")]
    for found in BLOCK.finditer(text)
}
OPTIONAL = ("onnx", "sklearn")

pytestmark = pytest.mark.skipif(os.environ.get("MXNET_ENABLE_CYTHON") == "0", reason="about the pages: one binding is enough")


def test_there_are_blocks():
    assert {name.split(":")[0] for name in BLOCKS} >= {"README.md", "docs/numpy.md", "docs/profiler.md", "docs/recordio.md"}


@pytest.mark.parametrize("name", BLOCKS)
def test_a_block_runs(name, run_python, tmp_path):
    for module in OPTIONAL:
        if re.search(rf"^(import|from) {module}\b|mx\.{module}\.", BLOCKS[name], re.MULTILINE):
            pytest.importorskip(module)
    page = tmp_path / "page.py"
    page.write_text(BLOCKS[name], encoding="utf-8")
    result = run_python(f"import os, runpy\nos.chdir({str(tmp_path)!r})\nrunpy.run_path({str(page)!r}, run_name='__main__')")
    assert result.returncode == 0, result.stderr
