# SPDX-License-Identifier: Apache-2.0
"""Parameters, their order and their defaults of every operator function, which the front end makes of the library's
descriptions when it is imported."""
import inspect

from registry import program


def signatures(module):
    """Of the functions that were made out of operators and have a public name."""
    made = {name: getattr(module, name) for name in dir(module) if not name.startswith("_")}
    return {name: str(inspect.signature(function)) for name, function in sorted(made.items())
            if inspect.isfunction(function)}


@program()
def array_operators(mx, np):
    spaces = mx.nd.op, mx.nd.contrib, mx.nd.linalg, mx.nd.image, mx.nd.sparse
    return [signatures(space) for space in spaces]


@program()
def symbol_operators(mx, np):
    spaces = mx.sym.op, mx.sym.contrib, mx.sym.linalg, mx.sym.image, mx.sym.sparse
    return [signatures(space) for space in spaces]
