# SPDX-License-Identifier: Apache-2.0
"""What README.md and docs/ show of Python runs as it stands there: each ```python block, in a folder of its own, with the
example's library where it loads one by an absolute path. What they show of C++ over the public headers compiles."""

import os
import re
import subprocess
from pathlib import Path

import pytest
from extension_examples import COMPILER, example

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


def blocks_of(language):
    """Text by place, page:line."""
    block = re.compile(rf"^```{language}\n(.*?)^```$", re.MULTILINE | re.DOTALL)
    return {
        f"{page.relative_to(ROOT)}:{text.count(chr(10), 0, found.start()) + 1}": found.group(1)
        for page in PAGES
        for text in [page.read_text(encoding="utf-8")]
        for found in block.finditer(text)
    }


BLOCKS = blocks_of("python")
# Others are parts of the library.
PROGRAMS = {name: text for name, text in blocks_of("cpp").items() if "#include <mxnet/" in text}
OPTIONAL = ("onnx", "sklearn")
EXTENSION = re.compile(r"/path/to/lib(\w+)\.so")

pytestmark = pytest.mark.skipif(os.environ.get("MXNET_ENABLE_CYTHON") == "0", reason="about the pages: one binding is enough")


def test_there_are_blocks():
    assert {name.split(":")[0] for name in BLOCKS} >= {"README.md", "docs/extensions.md", "docs/numpy.md", "docs/profiler.md", "docs/recordio.md"}
    assert {name.split(":")[0] for name in PROGRAMS} >= {"docs/cpp_inference.md"}


@pytest.mark.parametrize("name", BLOCKS)
def test_a_block_runs(name, run_python, tmp_path):
    for module in OPTIONAL:
        if re.search(rf"^(import|from) {module}\b|mx\.{module}\.", BLOCKS[name], re.MULTILINE):
            pytest.importorskip(module)
    if EXTENSION.search(BLOCKS[name]) and COMPILER is None:
        pytest.skip("needs a C++ compiler")
    page = tmp_path / "page.py"
    page.write_text(EXTENSION.sub(lambda found: str(example(found[1])), BLOCKS[name]), encoding="utf-8")
    result = run_python(f"import os, runpy\nos.chdir({str(tmp_path)!r})\nrunpy.run_path({str(page)!r}, run_name='__main__')")
    assert result.returncode == 0, result.stderr


@pytest.mark.skipif(COMPILER is None, reason="needs a C++ compiler")
@pytest.mark.parametrize("name", PROGRAMS)
def test_a_cpp_block_compiles(name, tmp_path):
    includes, body = [], []
    for line in PROGRAMS[name].splitlines():
        (includes if line.startswith("#include") else body).append(line)
    program = tmp_path / "page.cc"
    program.write_text("\n".join([*includes, "int main() {", *body, "}"]) + "\n", encoding="utf-8")
    command = [COMPILER, "-std=c++17", "-fsyntax-only", f"-I{ROOT / 'include'}", str(program)]
    result = subprocess.run(command, capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
