#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Pages name what is there: every link of README.md and docs/ leads to a file and a heading, every file, folder and test
program in `backquotes` is in the repository, every `MXNET_*` is a variable, an option of the build or a name in a
header, and every `name_of_a_function`, `function()` or `Class::member` stands somewhere in the sources. A command, quoted or
indented, gives a program of the repository no option that it has not, and CMake no preset. So do comments of the sources,
where they name a file by its folder; and the page about operators has every statement that a block may make, and nothing
that its example has not. The index names each page. Prose is wrapped, and tables are not.
Run without arguments on this repository, or with another root."""

import os
import re
import sys
import tempfile
import unittest
from pathlib import Path

import tree_check

PAGES = ("README.md", "benchmarks/README.md", "src/**/README.md", "tests/**/README.md", "docs/**/*.md")
COMMENT = {".h": "//", ".cc": "//", ".cu": "//", ".cuh": "//", ".inc": "//", ".hpp": "//", ".c": "//", ".py": "#", ".cmake": "#"}
OPERATORS_PAGE, BUILDER, EXAMPLE = "docs/adding_an_operator.md", "src/op/op_builder.h", "examples/operator/scaled_tanh.cc"
SKIPPED_FOLDERS = {".git", "build", ".venv", "__pycache__"}
LINK = re.compile(r"\]\(([^)\s]+)\)")
QUOTED = re.compile(r"`([^`]+)`")
WORD = re.compile(r"[\w./~-]+")
FILE = re.compile(r"[\w/.-]*\w\.(?:cc|h|hpp|cu|cuh|inc|py|cmake|supp|sh|md|map)")
INDEX = "docs/index.md"
WIDTH = 120
DASHES = re.compile(r"\|(?:\s*:?-{3,}:?\s*\|)+")
FOLDERS = ("src", "include", "tests", "docs", "scripts", "tools", "benchmarks", "examples", "cmake", "python")
PATHS = (*(f"{folder}/" for folder in FOLDERS), "build/release/")
PROGRAM = re.compile(r"(?:build/\w+/)?(?P<folder>tests|tools)/(?:[\w/]+/)?(?P<name>\w+)")
VARIABLE = re.compile(r"MXNET_[A-Z]\w*")
NAME = re.compile(r"[a-z]\w*_\w*[^\W_]|(?:\w+::)*\w+\(\)|(?:\w+::)+\w+")
# What is run, behind variables and an interpreter: a program by its file, in quotes without its folder too; then its words.
COMMAND = re.compile(r"(?:[A-Z_]\w*=\S* )*(?:\S*python3? )?(?P<program>[\w./-]+)(?P<words>(?: .*)?)")
OPTION = re.compile(r"(?<![^\s\[])--[a-z][\w-]*")
PRESETS = "CMakePresets.json"
SOURCE = re.compile(r"(?:^|/)CMakeLists\.txt$|^scripts/|\.(?:cc|h|hpp|cu|cuh|inc|c|py|pyi|cmake|sh|map|supp|json|toml)$")
OF_THE_RELEASE = "docs/deviations/"  # these pages name what is not here
# What pages speak of though it is not here: headers of C and of the release, what only the wheel has there, and what
# oneDNN and OpenMP have.
ELSEWHERE = {"stdint.h", "stdbool.h", "mxnet/ndarray.h", "mxnet/operator.h", "mxnet/tools/im2rec.py", "fuse_norm_add_relu",
             "omp_free"}


class Tree:
    """What is in the repository, as pages call it."""

    def __init__(self, root: Path):
        self.root = root
        self.files, self.folders = set(), {""}
        for folder, inside, names in os.walk(root):
            inside[:] = [name for name in inside if name not in SKIPPED_FOLDERS]
            here = os.path.relpath(folder, root).removeprefix(".")
            self.folders.add(here)
            self.files.update(os.path.join(here, name) for name in names)
        self.tails = {tail for file in self.files for tail in tails(file)}
        self.runnable = {}  # by each of their tails
        for file in self.files:
            if file.startswith(FOLDERS) and (file.endswith((".py", ".sh")) or file.startswith("scripts/")):
                for tail in tails(file):
                    self.runnable.setdefault(tail, []).append(file)
        self.programs, self.variables, self.names = set(), set(), set()
        for file in self.files:
            if SOURCE.search(file):
                self.names.update(re.findall(r"[A-Za-z_]\w*", self.read(file)))
            if os.path.basename(file) == "CMakeLists.txt":
                text = self.read(file)
                self.programs.update(name + "_test" for name in re.findall(r"mx_test\((\w+)", text))
                self.names.update("bench_" + name for name in re.findall(r"mx_benchmark\((\w+)", text))
                self.programs.update(re.findall(r"(?:mx_tool|add_executable)\((\w+)", text))
            # env_vars.md is written by the table of variables, and CI compares the two.
            readers = ("include/", "cmake/", "CMakeLists", "tests/python/", "tests/plugin/emulated/")
            if file == "docs/env_vars.md" or file.startswith(readers):
                self.variables.update(VARIABLE.findall(self.read(file)))

    def read(self, file: str) -> str:
        return (self.root / file).read_text(encoding="utf-8", errors="replace")

    def headings(self, page: str) -> set:
        """As links write them: small letters, hyphens for blanks, no other signs."""
        lines = re.findall(r"^#+ (.*)$", self.read(page), re.MULTILINE)
        return {re.sub(r"[^\w\- ]", "", line.lower()).strip().replace(" ", "-") for line in lines}


def tails(file: str) -> list:
    """a/b/c.h, b/c.h, c.h: pages name a file by as much of its path as tells it from others."""
    parts = file.split("/")
    return ["/".join(parts[i:]) for i in range(len(parts))]


def check_link(tree: Tree, page: str, link: str) -> str:
    if re.match(r"\w+:", link):
        return ""
    path, _, heading = link.partition("#")
    target = os.path.normpath(os.path.join(os.path.dirname(page), path)) if path else page
    if target not in tree.files and target not in tree.folders:
        return f"a link to {link}, which is not there"
    if heading and heading not in tree.headings(target):
        return f"a link to {link}, which has no such heading"
    return ""


def check_word(tree: Tree, word: str) -> str:
    if VARIABLE.fullmatch(word):
        known = word in tree.variables or word.endswith("_")
        return "" if known else f"names {word}, which nothing in the source reads"
    if FILE.fullmatch(word) and not word.startswith(("/", "-")):
        return "" if word in tree.tails or word in ELSEWHERE else f"names {word}, which is not there"
    program = PROGRAM.fullmatch(word)
    if program and program["name"] in tree.programs:
        return ""
    path = word.rstrip("/")
    if "/" in word and path.split("/")[0] in FOLDERS and path not in tree.files and path not in tree.folders:
        return f"names {word}, which is not there"
    return ""


def check_name(tree: Tree, quoted: str) -> str:
    """What is quoted as a whole, and looks like nothing else than a name of a program's."""
    if not NAME.fullmatch(quoted) or quoted in ELSEWHERE or all(part in tree.names for part in re.findall(r"\w+", quoted)):
        return ""
    return f"names {quoted}, which is nowhere in the sources"


def check_command(tree: Tree, text: str) -> list:
    """Options of programs of the repository, which they or what they share with their neighbours read; presets."""
    problems = []
    for preset in re.findall(r"--preset[ =](\w+)", text):
        if f'"{preset}"' not in tree.read(PRESETS):
            problems.append(f"names the preset {preset}, which {PRESETS} has not")
    command = COMMAND.match(text)
    programs = tree.runnable.get(command["program"], []) if command else []
    if len(programs) != 1:
        return problems
    folder = os.path.dirname(programs[0])
    beside = [file for file in tree.files if file.endswith(".py") and os.path.dirname(file) in (folder, folder.split("/")[0])]
    known = "".join(tree.read(file) for file in {programs[0], *beside})
    for option in OPTION.findall(re.split(r" [|#&>]", command["words"])[0]):
        if not re.search(rf"{option}(?![\w-])", known) and option != "--help":
            problems.append(f"gives {command['program']} {option}, which it does not know")
    return problems


def check_width(line: str) -> str:
    """Prose alone: a row of a table is one line, and a command or a long name cannot be broken."""
    prose = re.match(r"(\s*(?:[-*] |\d+\. )?)(?=\S)(?!\|)", line)
    if len(line) <= WIDTH or not prose or " " not in line[prose.end() : WIDTH + 1]:
        return ""
    return f"is {len(line)} characters wide, {WIDTH} are the most"


def check_table(line: str) -> str:
    """The dashes under a table's head are a line of their own, or the table is shown as a paragraph."""
    return "has a table that was wrapped" if DASHES.search(line) and not DASHES.fullmatch(line.strip()) else ""


def check_page(tree: Tree, page: str) -> list:
    problems, code = [], False
    for number, line in enumerate(tree.read(page).splitlines(), 1):
        code ^= line.startswith("```")
        if not code and not line.startswith("    ") and check_width(line):
            problems.append(f"{page}:{number}: {check_width(line)}")
        if not code and check_table(line):
            problems.append(f"{page}:{number}: {check_table(line)}")
        found = [check_link(tree, page, link) for link in LINK.findall(line)]
        for quoted in QUOTED.findall(line):
            if not page.startswith(OF_THE_RELEASE):
                found.append(check_name(tree, quoted))
            # One word of many (`name_*.cc`, `{a,b}.h`) names a family; what stands behind a slash is a path.
            if not re.search(r"[*{<]|\.\.\.", quoted):
                found += [check_word(tree, word.rstrip(".-")) for word in WORD.findall(quoted)]
            found += check_command(tree, quoted)
        if not code and line.startswith("    "):
            found += check_command(tree, line.strip())
            words = WORD.findall(line.split("#")[0])
            found += [check_word(tree, word) for word in words if word.startswith(PATHS)]
        problems += [f"{page}:{number}: {problem}" for problem in found if problem]
    return problems


def check_comments(tree: Tree, file: str) -> list:
    """Only files with their folder: by their last name alone comments speak of the headers of others too."""
    sign, problems = re.escape(COMMENT[os.path.splitext(file)[1]]), []
    for number, line in enumerate(tree.read(file).splitlines(), 1):
        comment = re.match(rf"\s*{sign}(.*)", line)
        # What stands before a star, inside of brackets or has NAME in it is a family of files, not one.
        for name in re.findall(rf"(?<![\w/.<*-])(\w+/{FILE.pattern})(?!\w)", comment[1] if comment else ""):
            if "NAME" not in name and name not in tree.tails and name not in ELSEWHERE:
                problems.append(f"{file}:{number}: names {name}, which is not there")
    return problems


def check_statements(tree: Tree) -> list:
    """The statements of a block are the members of its builder that return it."""
    if BUILDER not in tree.files or OPERATORS_PAGE not in tree.files:
        return []
    made = set(re.findall(r"^  OpBuilder& (\w+)\(", tree.read(BUILDER), re.MULTILINE))
    told = set(re.findall(r"(?<!\w)\.(\w+)", tree.read(OPERATORS_PAGE)))
    return [f"{OPERATORS_PAGE}: does not tell of .{name} ({BUILDER})" for name in sorted(made - told)]


def check_example(tree: Tree) -> list:
    """What the page about operators shows of its example is in the example, line by line."""
    if EXAMPLE not in tree.files or OPERATORS_PAGE not in tree.files:
        return []
    made, problems, code = [line.strip() for line in tree.read(EXAMPLE).splitlines()], [], False
    for number, line in enumerate(tree.read(OPERATORS_PAGE).splitlines(), 1):
        code = line == "```cpp" if line.startswith("```") else code
        shown = line.strip().rstrip(";")
        if code and not shown.startswith("```") and "..." not in shown and not any(one.startswith(shown) for one in made):
            problems.append(f"{OPERATORS_PAGE}:{number}: is not in {EXAMPLE}")
    return problems


def check_index(tree: Tree) -> list:
    """Each page can be found from the first one."""
    if INDEX not in tree.files:
        return []
    folder, named = os.path.dirname(INDEX), set(LINK.findall(tree.read(INDEX)))
    pages = {file for file in tree.files if file.startswith(folder + "/") and file.endswith(".md") and file.count("/") == 1}
    return [f"{INDEX}: does not name {page}" for page in sorted(pages - {INDEX}) if os.path.basename(page) not in named]


def check_tree(root: Path) -> list:
    tree = Tree(root)
    pages = [file.relative_to(root).as_posix() for pattern in PAGES for file in sorted(root.glob(pattern))]
    sources = sorted(file for file in tree.files if os.path.splitext(file)[1] in COMMENT)
    return [
        *(problem for page in pages for problem in check_page(tree, page)),
        *(problem for file in sources for problem in check_comments(tree, file)),
        *check_statements(tree),
        *check_example(tree),
        *check_index(tree),
    ]


class BadPages(unittest.TestCase):
    """The check itself: what is not there must be found, and what is there must not."""

    FILES = {
        "docs/other.md": "# A heading, (in two) parts\n",
        "src/op/a.h": "",
        "docs/env_vars.md": "| `MXNET_THERE` |\n",
        "tests/op/CMakeLists.txt": "mx_test(op\n",
    }

    def problems(self, text: str) -> list:
        with tempfile.TemporaryDirectory() as folder:
            for path, body in {**self.FILES, "docs/page.md": text}.items():
                file = Path(folder) / path
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_text(body, encoding="utf-8")
            return check_tree(Path(folder))

    def assert_found(self, what: str, text: str):
        problems = self.problems("# Page\n" + text)
        self.assertEqual(len(problems), 1, problems)
        self.assertIn(what, problems[0])
        self.assertIn("docs/page.md:2", problems[0])

    def test_links_lead_to_files_and_headings_that_are_there(self):
        self.assertEqual(self.problems("[a](other.md) [b](other.md#a-heading-in-two-parts) [c](../src) [d](https://a.b)"), [])
        self.assert_found("lost.md", "[a](lost.md)")
        self.assert_found("no such heading", "[a](other.md#lost)")

    def test_files_and_folders(self):
        self.assertEqual(self.problems("`src/op/a.h` `op/a.h` `a.h` `src/op/` `build/x/tests/op/op_test --all` `b*.h`"), [])
        self.assert_found("op/lost.h", "see `op/lost.h`")
        self.assert_found("src/lost", "see `src/lost/`")
        self.assert_found("tests/op/lost_test", "run `tests/op/lost_test`")

    def test_names_stand_somewhere_in_the_sources(self):
        self.FILES = {**self.FILES, "src/op/a.h": "class A { void run_all(); };\nvoid f();\n", "docs/deviations/b.md": "`their_name`\n"}
        self.assertEqual(self.problems("`run_all` `A::run_all` `f()` `a lost_name in more` `lost_*`"), [])
        self.assert_found("lost_name", "`lost_name`")
        self.assert_found("A::lost", "`A::lost`")
        self.assert_found("lost()", "`lost()`")

    def test_comments_name_files_that_are_there(self):
        self.FILES = {**self.FILES, "src/op/a.h": "// See op/a.h, docs/other.md and x/*_a.h.\nint x = a/lost.h;\n// As lost.h says.\n"}
        self.assertEqual(self.problems(""), [])
        self.FILES["src/op/a.h"] = "int x;\n  // See op/lost.h.\n"
        self.assertEqual(self.problems(""), ["src/op/a.h:2: names op/lost.h, which is not there"])

    def test_the_page_about_operators_tells_of_each_statement(self):
        self.FILES = {**self.FILES, BUILDER: "  OpBuilder& doc(const char* text) {\n  OpBuilder& grad(int) {\n"}
        self.FILES[OPERATORS_PAGE] = "`.doc`\n```cpp\n    .grad(...)\n```\n"
        self.assertEqual(self.problems(""), [])
        self.FILES[OPERATORS_PAGE] = "`.doc`\n"
        self.assertEqual(self.problems(""), [f"{OPERATORS_PAGE}: does not tell of .grad ({BUILDER})"])

    def test_what_the_page_about_operators_shows_is_in_its_example(self):
        self.FILES = {**self.FILES, EXAMPLE: "void f(int x) {\n  return;\n}\n"}
        self.FILES[OPERATORS_PAGE] = "```cpp\nvoid f(int x);\n    .grad(...)\n```\nint y;\n"
        self.assertEqual(self.problems(""), [])
        self.FILES[OPERATORS_PAGE] = "```cpp\nvoid f(int y);\n```\n"
        self.assertEqual(self.problems(""), [f"{OPERATORS_PAGE}:2: is not in {EXAMPLE}"])

    def test_the_index_names_each_page(self):
        self.FILES = {**self.FILES, "docs/index.md": "[a](other.md) [b](env_vars.md)\n", "docs/deviations/shape.md": ""}
        self.assertEqual(self.problems(""), ["docs/index.md: does not name docs/page.md"])

    def test_prose_is_wrapped(self):
        long, words = "x" * 121, "word " * 30
        self.assertEqual(self.problems(f"{words[:120]}\n- {long}\n| {words} |\n```\n{words}\n```\n\n    {words}"), [])
        self.assert_found("is 150 characters wide", words)
        self.assert_found("is 152 characters wide", f"- {words}")

    def test_tables_are_not_wrapped(self):
        self.assertEqual(self.problems("| a | b |\n|---|:---:|\n| c | d |\n- e\n  | f |\n  |---|"), [])
        self.assert_found("a table that was wrapped", "| a | b | |---|---| | c | d |")

    def test_commands_give_options_and_presets_that_there_are(self):
        self.FILES = {**self.FILES, "tools/run.py": 'add_argument("--rounds")', "tools/shared.py": 'add_argument("--seed")'}
        self.FILES["CMakePresets.json"] = '{"name": "fast"}'
        good = "`A=1 python3 tools/run.py --rounds 2 --seed=3 [--help] | less --lost` `cmake --preset fast`\n\n    run.py --seed 1"
        self.assertEqual(self.problems(good), [])
        self.assert_found("--lost", "`run.py --rounds 2 --lost 1`")
        self.assert_found("--lost", "    tools/run.py --lost")
        self.assert_found("tools/lost.py", "    tools/lost.py --rounds 2")
        self.assert_found("the preset slow", "    ctest --preset slow")

    def test_variables_are_those_of_the_configuration(self):
        self.assertEqual(self.problems("`MXNET_THERE=1` and those of `MXNET_`"), [])
        self.assert_found("MXNET_LOST", "`MXNET_LOST=1`")


if __name__ == "__main__":
    sys.exit(tree_check.run("pages", __doc__, BadPages, check_tree))
