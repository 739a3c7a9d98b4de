#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Says which sources can be compiled together, as one unit: files whose private names do not meet.
Usage: units.py ROOT FILE...       one line a unit of two or more files, separated by semicolons

A file's private names are those that it declares in unnamed namespaces, its aliases and its macros. Two files share no unit
when one of them declares what the other has too, or what a header of the other shows to it: that would be another overload,
or two things of one name. Nor does a file come behind one that shows it a name which its own headers do not: an include that
it lacks would be missed by nobody. (The standard library's headers are not told apart: most are precompiled for all.)
What is read is the layout that clang-format gives: declarations of a namespace begin at column 0."""

import functools
import re
import sys
from pathlib import Path

# Of a unit. Larger ones save little more, and the last of them would be waited for.
MOST_FILES = 8
MOST_LINES = 1800

TEMPLATE = re.compile(r"template\s*<(?:[^<>]|<(?:[^<>]|<[^<>]*>)*>)*>\s*(requires\s*\(.*?\)\s*)?")
TYPE = re.compile(r"(?:typedef )?(?:struct|class|union|concept|enum(?: class| struct)?)\s+(\w+)")
ALIAS = re.compile(r"using (\w+)\s*=")
USED = re.compile(r"^using (?:\w+::)*(\w+)::(\w+);", re.MULTILINE)
SHORTENED = re.compile(r"^namespace (\w+) = ([\w:]+);", re.MULTILINE)
ANNOUNCED = re.compile(r"(?:struct|class|enum(?: class| struct)?)\s+\w+(?:\s*:\s*\w+)?;")
MEMBER = re.compile(r"(?:\.|->)\s*(?:template\s+)?[A-Za-z_]\w*")
NOT_CODE = re.compile(r"//[^\n]*|/\*.*?\*/|R\"(\w*)\(.*?\)\1\"|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])+'", re.DOTALL)


def declared(head: str):
    """The name that a declaration introduces, of which `head` is the beginning; None where it introduces none."""
    head = re.sub(r"\[\[.*?\]\]", "", head).strip()
    while head.startswith("template"):
        parameters = TEMPLATE.match(head)
        if not parameters or parameters.end() == len(head):
            return None
        head = head[parameters.end() :]
    if found := TYPE.match(head):
        return found[1]
    if found := ALIAS.match(head):
        return found[1]
    if head.startswith(("using ", "namespace ", "static_assert", "extern ", "operator")):
        return None
    name = re.search(r"(::\s*)?(\w+)$", re.split(r"[(={;\[]|\boperator\b", head)[0].rstrip())
    # Qualified: the member of something declared elsewhere. Without a type before it: a macro's row, TEST(...), say.
    if not name or name[1] or name.start() == 0:
        return None
    return name[2]


class Source:
    """What matters of a source or header: its text without comments and strings, and what it includes."""

    def __init__(self, path: Path, root: Path):
        self.path, self.raw = path, path.read_text(errors="replace")
        self.text = NOT_CODE.sub(" ", self.raw)
        names = re.findall(r'^\s*#\s*include\s+["<]([^">]+)[">]', self.raw, re.MULTILINE)
        places = (path.parent, root / "src", root / "include", root / "tests", root)
        self.includes = [(place / name).resolve() for name in names for place in places if (place / name).is_file()]

    @functools.cached_property
    def heads(self) -> list:
        """Beginnings of declarations at column 0, and whether they stand in an unnamed namespace."""
        unnamed, open_body, waiting, result = [], False, False, []
        for line in map(str.rstrip, self.text.splitlines()):
            if re.match(r"(inline )?namespace\b[^;=]*\{", line):
                if not line.endswith("}"):
                    unnamed.append(line.startswith("namespace {"))
            elif line == "}":  # of a function, or of a namespace
                if open_body:
                    open_body = False
                elif unnamed:
                    unnamed.pop()
            elif line.startswith("}"):  # of a type or a table
                open_body = False
            elif line and line[0] != "#":
                if line[0] in " \t":
                    if waiting and not re.search(r"[(={;]", result[-1][1]):
                        result[-1] = (result[-1][0], result[-1][1] + " " + line.strip())
                else:
                    result.append((any(unnamed) or line.startswith("static "), line))
                    waiting = True
                if waiting and line.endswith(("{", ";", "}")):
                    open_body, waiting = line.endswith("{"), False
        return result

    @functools.cached_property
    def private(self) -> set:
        names = set(re.findall(r"^#\s*define\s+(\w+)", self.raw, re.MULTILINE))
        names |= {declared(head) for unnamed, head in self.heads if unnamed or ALIAS.match(head)}
        return names - {None}

    @functools.cached_property
    def macros(self) -> set:
        return set(re.findall(r"^\s*#\s*define\s+(\w+)", self.raw, re.MULTILINE))

    @functools.cached_property
    def used(self) -> dict:
        """Names that are taken over from other namespaces, or short for one: from which, for which."""
        return {name: space for space, name in USED.findall(self.text)} | dict(SHORTENED.findall(self.text))

    @functools.cached_property
    def shown(self) -> set:
        return {declared(head) for _, head in self.heads} - {None}

    @functools.cached_property
    def given(self) -> set:
        """What a file can use that includes this one: of a type that is only announced, nothing."""
        return {declared(head) for _, head in self.heads if not ANNOUNCED.match(head)} - {None} | self.macros

    @functools.cached_property
    def words(self) -> set:
        """The names in its text, but for those of members, which come with their types."""
        return set(re.findall(r"[A-Za-z_]\w*", MEMBER.sub("", self.text)))

    def included_again(self) -> bool:
        """Whether it is meant to be included more than once."""
        return "#pragma once" not in self.raw and "#ifndef" not in self.raw


class File:
    """A source with all that it includes."""

    def __init__(self, path: Path, source):
        self.path, own = path, source(path)
        headers, waiting = set(), list(own.includes)
        while waiting:
            header = waiting.pop()
            if header not in headers:
                headers.add(header)
                waiting += source(header).includes
        again = [header for header in headers if source(header).included_again()]
        self.private = own.private.union(*(source(header).private | {str(header)} for header in again))
        self.shown = self.private.union(own.shown, *(source(header).shown for header in headers))
        self.given = own.given.union(*(source(header).given for header in headers))
        self.lacks = own.words - self.given
        self.lines = own.raw.count("\n")
        self.used = own.used
        # Open to the end of the file, so to the files after it too.
        self.opened = set(re.findall(r"^using namespace ([\w:]+)", own.text, re.MULTILINE))

    def follows(self, other) -> bool:
        """Whether it can stand behind `other` in a unit."""
        return self.lacks.isdisjoint(other.given) and self.goes_with(other)

    def goes_with(self, other) -> bool:
        return (
            self.private.isdisjoint(other.shown)
            and other.private.isdisjoint(self.shown)
            and self.private.isdisjoint(other.used)
            and other.private.isdisjoint(self.used)
            and all(other.used.get(name, space) == space for name, space in self.used.items())
            and self.opened == other.opened
        )


def units(paths: list, root: Path) -> list:
    source = functools.lru_cache(maxsize=None)(lambda path: Source(path, root))
    result = []
    for file in (File(path.resolve(), source) for path in paths if path.suffix in (".cc", ".cu") and path.is_file()):
        for unit in result:
            lines = sum(other.lines for other in unit) + file.lines
            if len(unit) < MOST_FILES and lines <= MOST_LINES and all(map(file.follows, unit)):
                unit.append(file)
                break
        else:
            result.append([file])
    return [[str(file.path) for file in unit] for unit in result if len(unit) > 1]


if __name__ == "__main__":
    for unit in units([Path(name) for name in sys.argv[2:]], Path(sys.argv[1]).resolve()):
        print(";".join(unit))
