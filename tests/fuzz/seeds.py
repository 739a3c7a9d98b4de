# SPDX-License-Identifier: Apache-2.0
"""A corpus for fuzz_graph: a symbol for each call that the tests know of an operator, as files of several versions have it, and
the tests' own symbols.

    python3 tests/fuzz/seeds.py FOLDER
"""
import json
import pathlib
import shutil
import sys

TESTS = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(TESTS / "python"))

from op_registry import CALLS, golden_calls  # noqa: E402

DTYPES = ["float32", "float64", "float16", "uint8", "int32", "int8", "int64", "bool", "int16", "uint16", "uint32", "uint64", "bfloat16"]
VERSIONS = [None, 800, 903, 905, 10500, 10901]


def symbol(op, arrays, params, version):
    """One operator on variables that say their shapes and types."""
    nodes = [{"op": "null", "name": f"x{i}", "attrs": {"__shape__": str(tuple(shape)), "__dtype__": str(DTYPES.index(dtype))}, "inputs": []}
             for i, (shape, dtype) in enumerate(arrays)]
    inputs = list(range(len(nodes)))
    nodes.append({"op": op, "name": "y", "attrs": {key: str(value) for key, value in params.items()}, "inputs": [[i, 0, 0] for i in inputs]})
    graph = {"nodes": nodes, "arg_nodes": inputs, "heads": [[len(inputs), 0, 0]]}
    return graph if version is None else {**graph, "attrs": {"mxnet_version": ["int", version]}}


def main(folder):
    folder.mkdir(parents=True, exist_ok=True)
    known = [(op, [(shape, "float32") for shape in shapes], params) for op, (shapes, params) in CALLS.items()]
    known += [call[:3] for call in golden_calls() if sum(len(shape) for shape, _ in call[1]) < 30]
    for number, (op, arrays, params) in enumerate(known):
        text = json.dumps(symbol(op, arrays, params, VERSIONS[number % len(VERSIONS)]), indent=2)
        (folder / f"{number:04d}-{op}.json").write_text(text)
    for path in sorted((TESTS / "data" / "symbols").glob("*.json")):
        shutil.copy(path, folder)
    print(f"{len(list(folder.iterdir()))} symbols in {folder}")


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]))
