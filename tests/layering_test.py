#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The layers hold: reads the table in src/README.md and fails on any #include that it does not allow, on files that
break the rules every file follows (docs/contributing.md), on files that the map names but nobody has, and on what the
map of a folder (src/op/README.md) leaves out. Run without arguments on this repository, or with another root."""

import re
import sys
import tempfile
import unittest
from pathlib import Path

import tree_check

SOURCE_SUFFIXES = {".h", ".hpp", ".cc", ".cu", ".cuh", ".inc", ".c", ".py"}
MAX_LINES = 600
CONDITIONAL_FOLDERS = {"base", "device", "plugin/cuda", "plugin/mpi"}  # the only ones that may ask for the platform

INCLUDE = re.compile(r'^\s*#\s*include\s*["<]([^">]+)[">]')
CONDITIONAL = re.compile(r"^\s*#\s*(if|elif)(n?def)?\b")
USING_NAMESPACE = re.compile(r"^\s*using\s+namespace\b")
ROW = re.compile(r"^\|\s*(\d+)\s*\|\s*`([\w/]+)`\s*\|[^|]*\|([^|]*)\|")


class Layers:
    """The table: a row number for each folder, and what the last column allows besides."""

    def __init__(self, readme: str):
        self.row, self.extra = {}, {}
        for line in readme.splitlines():
            if match := ROW.match(line):
                row, folder, extra = int(match[1]), match[2], re.findall(r"`([\w/]+)`", match[3])
                self.row[folder] = row
                self.extra[folder] = set(extra)

    def folder_of(self, path: str):
        """The longest folder of the table that `path` lies in, or None."""
        inside = [f for f in self.row if path.startswith(f + "/")]
        return max(inside, key=len, default=None)

    def allows(self, user: str, used: str) -> bool:
        return user == used or used in self.extra[user] or self.row[used] < self.row[user]


def check_includes(layers: Layers, path: str, lines: list) -> list:
    user = layers.folder_of(path)
    if user is None:
        return [f"{path}: its folder has no row in src/README.md"] if "/" in path else []
    problems = []
    for number, line in enumerate(lines, 1):
        match = INCLUDE.match(line)
        used = layers.folder_of(match[1]) if match else None
        if match and ".." in match[1].split("/"):
            problems.append(f"{path}:{number}: includes {match[1]}, expected its path from src, which says whose it is")
        if used is not None and not layers.allows(user, used):
            problems.append(
                f"{path}:{number}: includes {match[1]}, but `{user}` (row {layers.row[user]}) may not "
                f"include `{used}` (row {layers.row[used]})"
            )
    return problems


def include_guard(lines: list):
    """The number of the line that opens a classic include guard, or None."""
    for number, line in enumerate(lines, 1):
        if match := re.match(r"^\s*#\s*ifndef\s+(\w+)", line):
            following = lines[number] if number < len(lines) else ""
            return number if re.match(rf"^\s*#\s*define\s+{match[1]}\b", following) else None
        if line.strip().startswith("#"):
            return None
    return None


def check_style(path: str, lines: list, public: bool) -> list:
    problems = []
    comment = ("#", '"""', 'r"""') if path.endswith(".py") else ("//", "/*", " *")
    if lines and lines[0].startswith("#!"):
        lines = lines[1:]
    if not lines or "SPDX-License-Identifier: Apache-2.0" not in lines[0]:
        problems.append(f"{path}:1: the first line must be the SPDX line")
    elif len(lines) < 2 or not lines[1].startswith(comment):
        problems.append(f"{path}:2: a comment must say what the file is for")
    if len(lines) > MAX_LINES:
        problems.append(f"{path}: {len(lines)} lines, more than {MAX_LINES}: look for the seam")
    if path.endswith(("-inl.h", "_inl.h")):
        problems.append(f"{path}: no -inl.h: headers declare, bodies go to .cc")
    header = path.endswith((".h", ".hpp", ".cuh", ".inc"))
    may_ask = public or any(path.startswith(folder + "/") for folder in CONDITIONAL_FOLDERS)
    guard = include_guard(lines) if header else None
    for number, line in enumerate(lines, 1):
        if header and USING_NAMESPACE.match(line):
            problems.append(f"{path}:{number}: no `using namespace` in a header")
        if CONDITIONAL.match(line) and not may_ask and number != guard:
            problems.append(f"{path}:{number}: #if only in base/, device/ and generated headers")
    return problems


def check_map(src: Path, readme: str) -> list:
    """A folder of a later part may stand in the table before it is there; a named file is there."""
    named = sorted(set(re.findall(r"`([\w/]+\.(?:h|cc|cu|py))`", readme)))
    lost = [path for path in named if not (src / path).is_file() and not (src.parent / path).is_file()]
    return [f"src/README.md: names {path}, which is not there" for path in lost]


SECTION = re.compile(r"^## ", re.MULTILINE)
FAMILY = re.compile(r"^\| `(\w+)` \|[^|]*\|([^|]*)\|$", re.MULTILINE)
FAMILIES = re.compile(r"^## Families|^\|[^\n]*\bmay also include\b", re.MULTILINE)  # a map that has such a table


def check_folder_map(src: Path, map_file: Path) -> list:
    """A folder's own map names each of its folders and files, and nothing else, in the first columns of its tables: by
    the name that header, body and loops share. A section whose title ends in a folder maps that one."""
    where = f"src/{map_file.relative_to(src).as_posix()}"
    named, mapped = {"": set()}, set()
    for section in SECTION.split(map_file.read_text(encoding="utf-8")):
        title = re.match(r".*: `(\w+)`\n", section)
        inside = title[1] if title else ""
        rows = re.findall(r"^\| (`[^|]*) \|", section, re.MULTILINE)
        named.setdefault(inside, set()).update(name for row in rows for name in re.findall(r"`(\w+)`", row))
        mapped |= {inside} - {""}
    named[""] |= mapped
    problems = []
    for inside, names in named.items():
        folder = map_file.parent / inside
        entries = list(folder.iterdir()) if folder.is_dir() else []
        there = {entry.name for entry in entries if entry.is_dir()}
        there |= {entry.stem for entry in entries if entry.suffix in SOURCE_SUFFIXES}
        prefix = f"{inside}/" if inside else ""
        problems += [f"{where}: does not name {prefix}{name}" for name in sorted(there - names)]
        problems += [f"{where}: names {prefix}{name}, which is not there" for name in sorted(names - there)]
    return problems


def check_families(src: Path, map_file: Path) -> list:
    """The table of a map whose third column says which of the other folders of that table each may include: it includes
    no more; and what lies beside the table includes none of them."""
    text = map_file.read_text(encoding="utf-8")
    allowed = {row[1]: set(re.findall(r"`(\w+)`", row[2])) for row in FAMILY.finditer(text)}
    base = map_file.parent
    inside = base.relative_to(src).as_posix()
    if not allowed and FAMILIES.search(text):
        return [f"src/{inside}/README.md: no row of its table of families is read, expected | `folder` | what | `others` |"]
    problems = []
    for file in sorted(base.rglob("*")) if allowed else ():
        if file.suffix not in SOURCE_SUFFIXES:
            continue
        folder = file.relative_to(base).parts[0]
        user = folder if folder in allowed else None
        for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1):
            match = INCLUDE.match(line)
            used = match[1].removeprefix(f"{inside}/").split("/")[0] if match and match[1].startswith(f"{inside}/") else ""
            if used in allowed and used != user and used not in allowed.get(user, ()):
                problems.append(
                    f"{file.relative_to(src).as_posix()}:{number}: includes {match[1]}, which `{user or inside}` may not "
                    f"(src/{inside}/README.md)"
                )
    return problems


def check_tree(root: Path) -> list:
    readme = root / "src" / "README.md"
    text = readme.read_text(encoding="utf-8")
    layers = Layers(text)
    if not layers.row:
        return [f"{readme}: no table of layers found"]
    problems = check_map(root / "src", text)
    for map_file in sorted((root / "src").glob("*/**/README.md")):
        problems += check_folder_map(root / "src", map_file) + check_families(root / "src", map_file)
    for base, public in ((root / "src", False), (root / "include", True)):
        for file in sorted(base.rglob("*")) if base.is_dir() else ():
            if file.suffix not in SOURCE_SUFFIXES:
                continue
            path = file.relative_to(base).as_posix()
            lines = file.read_text(encoding="utf-8").splitlines()
            problems += check_style(path, lines, public)
            if not public:
                problems += check_includes(layers, path, lines)
    for folder in ("tests", "benchmarks", "tools", "examples", "python"):
        for file in sorted((root / folder).rglob("*")):
            if file.suffix in SOURCE_SUFFIXES:
                lines = file.read_text(encoding="utf-8").splitlines()
                # Tests look at the platform where that is what they test; all else holds for them too.
                problems += check_style(f"{folder}/{file.relative_to(root / folder).as_posix()}", lines, True)
    return problems


class BadTrees(unittest.TestCase):
    """The check itself: one broken rule at a time must be found, and a good tree must pass."""

    README = "| 0 | `base` | x | |\n| 1 | `device` | x | |\n| 1 | `ir` | x | `device` |\n| 5 | `plugin/cuda` | x | |\n"
    HEAD = "// SPDX-License-Identifier: Apache-2.0\n// A file.\n"

    def problems(self, path: str, body: str, head: str = HEAD) -> list:
        with tempfile.TemporaryDirectory() as folder:
            root = Path(folder)
            file = root / "src" / path
            file.parent.mkdir(parents=True)
            (root / "src" / "README.md").write_text(self.README)
            file.write_text(head + body)
            return check_tree(root)

    def assert_found(self, text: str, path: str, body: str, head: str = HEAD):
        problems = self.problems(path, body, head)
        self.assertEqual(len(problems), 1, problems)
        self.assertIn(text, problems[0])

    def test_lower_own_and_named_folders_may_be_included(self):
        self.assertEqual(self.problems("device/a.cc", '#include "base/x.h"\n#include "device/cpu/y.h"\n'), [])
        self.assertEqual(self.problems("ir/a.cc", '#include "device/x.h"\n'), [])
        self.assertEqual(self.problems("plugin/cuda/a.cu", '#include "device/x.h"\n#include <vector>\n'), [])

    def test_a_lower_row_includes_no_higher_one(self):
        self.assert_found("may not include `device`", "base/a.h", '#include "device/x.h"\n')

    def test_folders_of_one_row_do_not_include_each_other(self):
        self.assert_found("may not include `ir`", "device/sim/a.cc", '#include "ir/x.h"\n')

    def test_angle_brackets_do_not_hide_an_include(self):
        self.assert_found("may not include `plugin/cuda`", "ir/a.cc", "#  include <plugin/cuda/x.h>\n")

    def test_an_include_says_whose_it_is(self):
        self.assert_found("expected its path from src", "base/a.h", '#include "../device/x.h"\n')
        self.assertEqual(self.problems("base/a.h", '#include "base/..x.h"\n'), [])

    def test_a_folder_without_a_row_is_a_problem(self):
        self.assert_found("no row", "stray/a.cc", "")

    def test_a_file_begins_with_its_licence(self):
        self.assert_found("SPDX", "base/a.cc", "", head="// Something else.\n// A file.\n")

    def test_a_file_says_what_it_is_for(self):
        self.assert_found("what the file is for", "base/a.cc", "int x;\n", head=self.HEAD.splitlines()[0] + "\n")

    def test_opening_of_python(self):
        head = self.HEAD.replace("//", "#")
        self.assertEqual(self.problems("../tests/a.py", "", head="#!/usr/bin/env python3\n" + head), [])
        self.assertEqual(self.problems("../tests/a.py", "", head=head.splitlines()[0] + '\n"""A file."""\n'), [])
        self.assert_found("what the file is for", "../tests/a.py", "x = 1\n", head=head.splitlines()[0] + "\n")

    def test_using_namespace_in_a_header(self):
        self.assert_found("using namespace", "base/a.h", "using namespace std;\n")
        self.assertEqual(self.problems("base/a.cc", "using namespace std;\n"), [])

    def test_conditional_compilation(self):
        self.assert_found("#if only", "ir/a.h", "#ifdef X\n#endif\n")
        self.assertEqual(self.problems("device/a.h", "#if X\n#endif\n"), [])
        self.assertEqual(self.problems("ir/a.h", "#ifndef A_H\n#define A_H\n#endif\n"), [])

    def test_a_file_has_a_most_lines(self):
        self.assert_found("look for the seam", "base/a.cc", "\n" * MAX_LINES)

    def test_inline_headers_are_a_problem(self):
        self.assert_found("no -inl.h", "base/a-inl.h", "")

    def test_map_of_a_lost_file(self):
        self.README += "See `base/a.cc` and `base/lost.h`.\n"
        self.assert_found("names base/lost.h", "base/a.cc", "")

    def folder_problems(self, readme: str, files: dict) -> list:
        with tempfile.TemporaryDirectory() as folder:
            src = Path(folder) / "src"
            for path, body in files.items():
                (src / path).parent.mkdir(parents=True, exist_ok=True)
                (src / path).write_text(self.HEAD + body)
            (src / "README.md").write_text(self.README)
            (src / "device" / "README.md").write_text(readme)
            return check_tree(Path(folder))

    def test_a_section_maps_the_folder_in_its_title(self):
        readme = "| files | hold |\n|---|---|\n| `a` | x |\n\n## Loops: `run`\n| files | hold |\n|---|---|\n| `b`, `lost` | x |\n"
        problems = self.folder_problems(readme, {"device/a.h": "", "device/run/b.h": "", "device/run/c.h": ""})
        self.assertEqual(
            problems, ["src/device/README.md: does not name run/c", "src/device/README.md: names run/lost, which is not there"]
        )

    def test_families_include_what_the_map_of_their_folder_says(self):
        readme = "| folder | holds | may also include |\n|---|---|---|\n| `low` | x | |\n| `high` | x | `low` |\n"
        include = '#include "device/{}/x.h"\n'.format
        good = {"device/low/x.h": "", "device/high/x.h": include("low") + include("high")}
        self.assertEqual(self.folder_problems(readme, good), [])
        bad = {"device/low/x.h": include("high"), "device/high/x.h": ""}
        self.assertIn("which `low` may not", "".join(self.folder_problems(readme, bad)))

    def test_families_of_which_no_row_is_read_are_a_problem(self):
        for readme in ("| folder | may also include |\n|---|---|\n| `low` | |\n", "## Families\n| `low` | x | y | |\n"):
            problems = self.folder_problems(readme, {"device/low/x.h": ""})
            self.assertIn("no row of its table of families", "".join(problems))

    def test_map_of_a_folder(self):
        with tempfile.TemporaryDirectory() as folder:
            src = Path(folder) / "src"
            (src / "device" / "cpu").mkdir(parents=True)
            (src / "README.md").write_text(self.README)
            (src / "device" / "README.md").write_text("| files | hold |\n|---|---|\n| `cpu` | `b` |\n| `a`, `lost` | x |\n")
            for name in ("a.h", "a.cc", "b.inc"):
                (src / "device" / name).write_text(self.HEAD)
            problems = check_tree(Path(folder))
        self.assertEqual(problems, ["src/device/README.md: does not name b", "src/device/README.md: names lost, which is not there"])

    def test_a_page_without_the_table_is_a_problem(self):
        self.README = "no table\n"
        self.assert_found("no table", "base/a.cc", "")


if __name__ == "__main__":
    sys.exit(tree_check.run("layering", __doc__, BadTrees, check_tree))
