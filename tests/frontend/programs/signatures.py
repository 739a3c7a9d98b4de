# SPDX-License-Identifier: Apache-2.0
"""Parameters, their order and their defaults of every operator function, which the front end makes of the library's
descriptions when it is imported."""
import inspect

from registry import program

SPACES = ("op", "contrib", "linalg", "image", "sparse")
# Gradients, which describe no parameter, and what those modules have imported from others.
LEFT_OUT = ("backward_", "check_call", "c_array_buf", "c_handle_array", "current_context", "dtype_number", "mx_real_t",
            "py_str", "py_sum", "uniform", "cpu", "gs_retain")


def shown(parameter):
    return str(parameter.replace(annotation=inspect.Parameter.empty))


def takes_any_number(parameters):
    return any(parameter.kind is inspect.Parameter.VAR_POSITIONAL for parameter in parameters)


def signatures(module, of_any_number):
    """Of the public functions, except those that stand in a file of the wheel because the library does not have them."""
    found = {}
    for name in sorted(dir(module)):
        function = getattr(module, name)
        if name.startswith(("_",) + LEFT_OUT) or isinstance(function, type) or not callable(function):
            continue
        if ".gen_" in str(getattr(function, "__module__", "")):
            continue
        parameters = inspect.signature(function).parameters.values()
        if takes_any_number(parameters) == of_any_number:
            found[name] = [shown(parameter) for parameter in parameters]
    return found


def of_spaces(module, of_any_number=False):
    return [signatures(getattr(module, space), of_any_number) for space in SPACES]


@program()
def array_operators(mx, np):
    return of_spaces(mx.nd)


@program()
def array_operators_of_any_number(mx, np):
    return of_spaces(mx.nd, of_any_number=True)


@program()
def symbol_operators(mx, np):
    return of_spaces(mx.sym)


@program()
def symbol_operators_of_any_number(mx, np):
    return of_spaces(mx.sym, of_any_number=True)
