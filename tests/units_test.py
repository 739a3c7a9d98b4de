#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Which sources cmake/units.py compiles together: on throw-away files, each pair with what must part it or must not."""
import pathlib
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "cmake"))
import units  # noqa: E402


def together(first: str, second: str, **headers: str) -> bool:
    """Whether two sources with these texts become one unit; `headers` are beside them."""
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name).resolve()
        for header, text in headers.items():
            (folder / f"{header}.h").write_text(text)
        paths = [folder / "a.cc", folder / "b.cc"]
        for path, text in zip(paths, (first, second)):
            path.write_text(text)
        found = units.units(paths, folder)
        assert found in ([], [[str(path) for path in paths]]), found
        return bool(found)


def private(text: str) -> str:
    return f"namespace mxnet {{\nnamespace {{\n{text}\n}}\nvoid f() {{\n  g();\n}}\n}}\n"


PARTED = {
    "the same constant": ("constexpr int kTile = 8;", "[[maybe_unused]] constexpr int64_t kTile = 9;"),
    "the same function": ("int rows(int a) {\n  return a;\n}", "template <typename T>\nT rows(T* a,\n       int b) {\n  return *a;\n}"),
    "a variable and a type": ("const bool Rows = true;", "struct Rows {\n  int a;\n};"),
    "a name behind a type's end": ("struct A {\n  int a;\n};\nint rows();", "enum class B { kOne };\nint rows() { return 1; }"),
    "an alias": ("using Rows = std::vector<int>;", "class Rows final {};"),
    "what one takes over": ("using dnnl::memory;", "struct memory {};"),
    "two that are taken over": ("using dnnl::memory;", "using onednn::memory;"),
    "a short name of two namespaces": ("namespace py = pybind11;", "namespace py = python;"),
    "a short name and a variable": ("namespace py = pybind11;", "int py = 0;"),
    "a declaration on two lines": ("const std::vector<std::pair<int, int>>\n    kTable = {{1, 2}};", "int kTable[3] = {};"),
}
KEPT = {
    "other names": ("constexpr int kTile = 8;", "constexpr int kTiles = 8;"),
    "members and variables of functions": ("struct A {\n  int rows = 0;\n};", "int b() {\n  int rows = 0;\n  return rows;\n}"),
    "text and comments": ("int rows = 0;", '// int rows = 0;\nconst char* b = "rows";\n/*\nint rows = 0;\n*/'),
    "the same taken over": ("using dnnl::memory;", "using dnnl::memory;"),
    "a namespace's short name": ("namespace py = pybind11;", "namespace py = pybind11;"),
    "members of other classes": ("void Matrix::rows() {\n}", "int rows() { return 1; }"),
    "what is called, not declared": ("const int columns = rows(7);", "int rows() { return 1; }"),
}


def test_private_names_that_meet_part_files() -> None:
    for what, (first, second) in PARTED.items():
        for one, other in ((first, second), (second, first)):
            assert not together(private(one), private(other)), what
    for what, (first, second) in KEPT.items():
        assert together(private(first), private(second)), what
    # The end of an unnamed namespace is found: what follows is everybody's, and declared in one file only.
    shown = private("struct A {\n  int a;\n};\nint b() {\n  return 1;\n}").replace("f()", "shown()")
    assert together(shown, private("int c() { return 1; }"))


def test_what_a_header_shows_parts_files() -> None:
    header = "#pragma once\nnamespace mxnet {\nstruct Rows {};\nint count(int a);\n}\n"
    user = '#include "shown.h"\nnamespace mxnet {\nvoid f() {\n}\n}\n'
    for text in ("struct Rows {\n};", "int count(float a) { return 1; }"):
        assert not together(user, private(text), shown=header), text
        assert together("int first;\n", private(text), shown=header), text
        # As far as it is included: by a header, too.
        assert not together('#include "outer.h"\n', private(text), shown=header, outer='#pragma once\n#include "shown.h"\n'), text
    both = '#include "again.h"\n'
    assert not together(both, both, again="int a;\n"), "it is meant to be included twice"
    assert together(both, both, again="#pragma once\nint a;\n")
    assert together(both, both, again="#ifndef A_H_\n#define A_H_\nint a;\n#endif\n")


def test_missing_includes_stay_errors() -> None:
    """A file does not come behind one that would give it what it has not included."""
    header = "#pragma once\n#define ROWS 3\nnamespace mxnet {\nstruct Rows {\n  int columns;\n};\nint count(int a);\n}\n"
    with_it = '#include "shown.h"\nnamespace mxnet {\nvoid shown() {\n}\n}\n'
    for use in ("Rows r;", "return count(1);", "return ROWS;"):
        without = "namespace mxnet {\nint shown_too() {\n  " + use + "\n}\n}\n"
        assert not together(with_it, without, shown=header), use
        assert together(without, with_it, shown=header), use  # nothing comes before it
        assert together(with_it, '#include "shown.h"\n' + without, shown=header), use
        assert together(with_it, '#include "outer.h"\n' + without, shown=header, outer='#pragma once\n#include "shown.h"\n'), use
    # To have announced a type is not to have it; what the first file itself shows is not included either.
    announced = "namespace mxnet {\nstruct Rows;\nint shown_too(Rows* rows) {\n  return rows->columns;\n}\n}\n"
    assert not together(with_it, announced, shown=header)
    assert not together(with_it, "namespace mxnet {\nint shown_too() {\n  shown();\n}\n}\n", shown=header)
    # Members and text of the same name are not meant.
    for use in ("a.count();", "a->count();", 'f("Rows count");  // ROWS'):
        assert together(with_it, "namespace mxnet {\nint shown_too(A a) {\n  " + use + "\n}\n}\n", shown=header), use


def test_macros_and_open_namespaces_part_files() -> None:
    assert not together("#define ROWS 1\n", "#define ROWS 2\n")
    assert not together("#define ROWS 1\n", "int ROWS = 2;\n")
    assert together("#define ROWS 1\n", "#define COLUMNS 2\n")
    assert not together("using namespace mxnet;\n", "int a;\n")
    assert together("using namespace mxnet;\n", "using namespace mxnet;\n")


def test_units_have_a_most_files_and_lines() -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name).resolve()
        paths = [folder / f"f{i}.cc" for i in range(units.MOST_FILES + 1)]
        for path in paths:
            path.write_text("int a;\n")
        assert list(map(len, units.units(paths, folder))) == [units.MOST_FILES]  # the last is by itself
        paths[0].write_text("int a;\n" * units.MOST_LINES)
        assert list(map(len, units.units(paths, folder))) == [units.MOST_FILES]  # now the first is
        assert units.units([folder / "generated_later.cc", folder / "a.c"], folder) == []


def test_files_of_the_repository_stand_in_one_unit_each() -> None:
    paths = sorted((ROOT / "src" / "engine").glob("*.cc"))
    found = units.units(paths, ROOT)
    names = [name for unit in found for name in unit]
    assert len(names) == len(set(names)) > len(paths) // 2, found
    assert found == units.units(paths, ROOT)
    # Both have a constant kSpins.
    spins = {path for path in paths if path.name in ("waiting.cc", "worker_pool.cc")}
    assert len(spins) == 2 and not any(set(unit) >= {str(path) for path in spins} for unit in found), found


if __name__ == "__main__":
    tests = [test for name, test in sorted(globals().items()) if name.startswith("test_")]
    for test in tests:
        test()
    print(f"units: {len(tests)} tests passed")
