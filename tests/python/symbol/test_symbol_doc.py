# SPDX-License-Identifier: Apache-2.0
"""The examples in mx.symbol_doc and mx.ndarray_doc are true."""

import doctest
import inspect

import mxnet as mx
import pytest

CLASSES = [
    found
    for module in (mx.symbol_doc, mx.ndarray_doc)
    for name, found in inspect.getmembers(module, inspect.isclass)
    if name.endswith("Doc") and name != "CustomDoc"  # whose operator users register
]


@pytest.mark.parametrize("documented", CLASSES, ids=lambda found: found.__name__)
def test_the_examples_of_the_documentation_run(documented):
    names = {"mx": mx, "SymbolDoc": mx.symbol_doc.SymbolDoc}
    test = doctest.DocTestParser().get_doctest(inspect.cleandoc(documented.__doc__), names, documented.__name__, None, 0)
    result = doctest.DocTestRunner().run(test)
    assert result.failed == 0
