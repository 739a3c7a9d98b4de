#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""No name of ours is one that C++ keeps for compilers and libraries: with two underscores, with one before a capital, or with
one in front outside of every function and class. Known are theirs by what they begin with; all else is a problem, wherever it
stands, but for names of operators, which macros are given. What clang-tidy has for that (bugprone-reserved-identifier) took a
fifth of its time for each file."""

import re
import sys
import tempfile
import unittest
from pathlib import Path

import tree_check

SUFFIXES = {".h", ".hpp", ".cc", ".cu", ".cuh", ".inc", ".c"}
FOLDERS = ("src", "include", "tools", "python")

# Comments and texts, which hold no names, then what a macro is given first, then any other name.
PARTS = re.compile(
    r"//(?:\\\n|[^\n])*|/\*.*?\*/"
    r'|R"(?P<mark>[^()\s]*)\(.*?\)(?P=mark)"|"(?:\\.|[^"\\\n])*"|(?<!\w)\'(?:\\.|[^\'\\\n])+\''
    r"|\b[A-Z][A-Z0-9_]+\(\s*(?P<given>[A-Za-z]?_\w*)"
    r"|(?P<name>[A-Za-z_]\w*)",
    re.DOTALL,
)
RESERVED = re.compile(r"__|^_")
# Of compilers, their intrinsics, CUDA and the C library.
THEIRS = re.compile(
    r"__(?:builtin_|cxa_|get_cpuid|m(?:128|256|512)(?:i|bh|h|d)?$|mmask\d+$|shfl_|rdtsc$|syncthreads$|uint_as_float$|restrict$|dso_handle$|forced_unwind$)"
    r"|__(?:attribute|asm|device|host|global|shared|forceinline|noinline|grid_constant|launch_bounds)__$"
    r"|__(?:VA_ARGS|COUNTER|FILE|LINE|GNUC|clang|cplusplus|linux|x86_64|aarch64|i386|CUDACC|CUDACC_RTC|CUDA_ARCH|SANITIZE_\w+?)(?:__)?$"
    r"|__int128$|_Pragma$|_SC_[A-Z_]+$|_CMP_[A-Z_]+$|_MM_[A-Z]\w*$|_mm\d*_\w+$|_tile_\w+$"
    r"|_(?:blsr|bzhi|lzcnt|pdep|pext|tzcnt)_u(?:32|64)$|_cvtsh_ss$|_k\w+_mask\d+$"
)


def check_text(path: str, text: str) -> list:
    problems = []
    for part in PARTS.finditer(text):
        name = part["name"]
        if part["given"] and "__" in part["given"]:
            name = part["given"]
        if name and RESERVED.search(name) and not THEIRS.match(name):
            line = text.count("\n", 0, part.start()) + 1
            problems.append(f"{path}:{line}: `{name}` is a name that C++ keeps for compilers and libraries")
    return problems


def check_tree(root: Path) -> list:
    return [
        problem
        for folder in FOLDERS
        for file in sorted((root / folder).rglob("*"))
        if file.suffix in SUFFIXES
        for problem in check_text(file.relative_to(root).as_posix(), file.read_text(encoding="utf-8"))
    ]


class BadTrees(unittest.TestCase):
    """The check itself."""

    def found(self, text: str) -> list:
        with tempfile.TemporaryDirectory() as folder:
            (Path(folder) / "src").mkdir()
            (Path(folder) / "src" / "a.cc").write_text(text)
            return [problem.split("`")[1] for problem in check_tree(Path(folder))]

    def test_names_that_are_reserved(self):
        for text, name in [
            ("int two__underscores;", "two__underscores"),
            ("class _Capital {};", "_Capital"),
            ("#define _A_HEADER_H", "_A_HEADER_H"),
            ("static int _outside;", "_outside"),
            ("void __ours(int x);", "__ours"),
            ('#define M(x) x##__end "__text"', "__end"),
            ("MX_OPERATOR(two__names, x);", "two__names"),
            ("int a = 1'000, __b = '\"', c = '\\'';", "__b"),
            ('auto s = "a\\"__no"; int __x;', "__x"),
        ]:
            self.assertEqual(self.found(text), [name])

    def test_a_problem_names_the_line(self):
        self.assertIn("a.cc:3: ", check_text("a.cc", "/* __a\n */\nint __b;\n")[0])

    def test_names_of_others_texts_and_comments(self):
        for text in [
            "if (__builtin_expect(x, 1)) _mm256_add_epi32(a, b);  // __not seen",
            '#ifdef __x86_64__\nauto s = R"(int __a;)" "__b";  /* _C */',
            "__m256i v; long page = sysconf(_SC_PAGESIZE); int x_ = a_b; using T = ::x::Y_;",
            "MX_OPERATOR(_sum_to_like, x); MX_OPERATOR( _NoGradient )",
        ]:
            self.assertEqual(self.found(text), [])


if __name__ == "__main__":
    sys.exit(tree_check.run("reserved names", __doc__, BadTrees, check_tree))
