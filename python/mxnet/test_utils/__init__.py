# SPDX-License-Identifier: Apache-2.0
"""Helpers for tests of programs that use the library: comparisons, random data, checks of gradients."""

import importlib as _importlib
from typing import Any as _Any

from .._lazy import missing as _missing
from ._compare import (
    almost_equal,
    assert_allclose,
    assert_almost_equal,
    assert_almost_equal_ignore_nan,
    assert_almost_equal_with_err,
    assert_exception,
    checkShapes,
    compare_ndarray_tuple,
    compare_optimizer,
    default_atols,
    default_context,
    default_dtype,
    default_numeric_eps,
    default_rtols,
    effective_dtype,
    get_atol,
    get_etol,
    get_rtol,
    get_tolerance,
    get_tols,
    locationError,
    same,
    same_array,
    set_default_context,
)
from ._random import (
    assign_each,
    assign_each2,
    collapse_sum_like,
    create_2d_tensor,
    create_sparse_array,
    create_sparse_array_zd,
    create_vector,
    get_identity_mat,
    get_identity_mat_batch,
    new_matrix_with_real_eigvals_2d,
    new_matrix_with_real_eigvals_nd,
    new_orthonormal_matrix_2d,
    new_sym_matrix_with_real_eigvals_2d,
    new_sym_matrix_with_real_eigvals_nd,
    np_reduce,
    rand_coord_2d,
    rand_ndarray,
    rand_shape_2d,
    rand_shape_3d,
    rand_shape_nd,
    rand_sparse_ndarray,
    random_arrays,
    random_sample,
    random_uniform_arrays,
    shuffle_csr_column_indices,
)
from ._statistics import chi_square_check, gen_buckets_probs_with_ppf, mean_check, var_check, verify_generator
from ._surroundings import (
    DummyIter,
    discard_stderr,
    download,
    download_model,
    environment,
    get_bz2_data,
    get_cifar10,
    get_im2rec_path,
    get_mnist,
    get_mnist_iterator,
    get_mnist_pkl,
    get_mnist_ubyte,
    get_zip_data,
    has_tvm_ops,
    is_aarch64_run,
    is_cd_run,
    is_op_runnable,
    list_gpus,
    retry,
)
from ._symbolic import (
    check_consistency,
    check_gluon_hybridize_consistency,
    check_numeric_gradient,
    check_speed,
    check_symbolic_backward,
    check_symbolic_forward,
    numeric_grad,
    same_symbol_structure,
    simple_forward,
)

# Tests of programs begin with `from mxnet.test_utils import *` and name these without importing them.
_ALSO = {
    "mx": "mxnet",
    "np": "numpy",
    "npt": "numpy.testing",
    "rnd": "numpy.random",
    **{name: name for name in ("errno", "gzip", "json", "logging", "numbers", "os", "struct", "sys", "time", "traceback")},
}
_FROM_MODULES = {
    "Context": "mxnet.context",
    "OrderedDict": "collections",
    "Symbol": "mxnet.symbol",
    "array": "mxnet.ndarray",
    "contextmanager": "contextlib",
    "current_context": "mxnet.context",
    "np_symbol": "mxnet",
    "use_np": "mxnet.util",
}

__all__ = [*(name for name in globals() if not name.startswith("_")), *_ALSO, *_FROM_MODULES]


def __getattr__(name: str) -> _Any:
    if name in _ALSO:
        return _importlib.import_module(_ALSO[name])
    if name in _FROM_MODULES:
        return getattr(_importlib.import_module(_FROM_MODULES[name]), name)
    raise _missing(__name__, name)
