# SPDX-License-Identifier: Apache-2.0
"""What of the reference's public Python surface is here.

`python tests/python/test_surface.py` prints the table, with arguments only the modules that start with
them and what they miss. With --raise it lifts the floors in tests/data/pyapi_floor.json to what is
there now; a floor never falls.
"""

import importlib
import json
import pathlib
import sys

import pytest

DATA = pathlib.Path(__file__).resolve().parents[1] / "data"
SURFACE = json.loads((DATA / "pyapi.json").read_text())
REASONS = DATA.parents[1] / "docs" / "deviations" / "python.md"
FLOOR_FILE = DATA / "pyapi_floor.json"
FLOORS = json.loads(FLOOR_FILE.read_text()) if FLOOR_FILE.exists() else {}


def present_and_missing(module_name):
    """Of a module's names and its classes' members: how many are there, and which are not."""
    names = SURFACE[module_name]
    try:
        module = importlib.import_module(module_name)
    except ImportError as error:
        return 0, [f"(the module: {error})"] + sorted(names)
    count, missing = 0, []
    for name, members in names.items():
        found = getattr(module, name, None)
        if found is None and name not in dir(module):
            missing.append(name)
            continue
        count += 1
        lacking = [member for member in members if not hasattr(found, member)]
        count += len(members) - len(lacking)
        missing += [f"{name}.{member}" for member in lacking]
    return count, sorted(missing)


@pytest.mark.parametrize("module_name", sorted(SURFACE))
def test_nothing_of_the_surface_is_lost(module_name):
    count, missing = present_and_missing(module_name)
    assert count >= FLOORS.get(module_name, 0), f"{module_name} lacks {', '.join(missing)}"


def ways_to_write(name):
    """How the page may name it: with the package's full name, or the short one, or its own."""
    return [f"`{name}`", f"`{name.replace('mxnet.', 'mx.', 1)}`", f"`{name.rpartition('.')[2]}`"]


def test_what_is_missing_has_a_reason():
    """Each name, or a module that holds it, stands in the page of deviations."""
    page = REASONS.read_text()
    for module_name in SURFACE:
        missing = present_and_missing(module_name)[1]
        if missing and missing[0].startswith("("):  # the module itself
            parts = module_name.split(".")
            modules = [".".join(parts[:end]) for end in range(2, len(parts) + 1)]
            assert any(way in page for module in modules for way in ways_to_write(module)[:2]), module_name
        else:
            for name in missing:
                assert any(way in page for way in ways_to_write(f"{module_name}.{name}")), f"{module_name}.{name}"


def test_classes_say_the_module_in_which_programs_find_them():
    """Pickles name it, and help() and messages show it."""
    private = {}
    for module_name in SURFACE:
        present_and_missing(module_name)  # imports it
    for row in (DATA / "public_names.txt").read_text().split():
        module_name, _, name = row.rpartition(".")
        found = getattr(sys.modules.get(module_name), name, None)
        if isinstance(found, type) and "._" in found.__module__:
            private[row] = found.__module__
    assert private == {}


def main(arguments):
    prefixes = [argument for argument in arguments if not argument.startswith("--")]
    total = [0, 0]
    for module_name in sorted(SURFACE):
        if prefixes and not module_name.startswith(tuple(prefixes)):
            continue
        count, missing = present_and_missing(module_name)
        lacking = len([name for name in missing if not name.startswith("(")])
        total = [total[0] + count, total[1] + lacking]
        print(f"{module_name:50} {count:5} present {lacking:5} missing")
        if prefixes and missing:
            print("    " + " ".join(missing))
        FLOORS[module_name] = max(count, FLOORS.get(module_name, 0))
    print(f"{'all':50} {total[0]:5} present {total[1]:5} missing")
    if "--raise" in arguments:
        FLOOR_FILE.write_text(json.dumps(FLOORS, indent=0, sort_keys=True) + "\n")


if __name__ == "__main__":
    main(sys.argv[1:])
