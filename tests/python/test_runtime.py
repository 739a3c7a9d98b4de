# SPDX-License-Identifier: Apache-2.0
"""mx.runtime: the features of build and machine."""

import mxnet as mx
import pytest


def test_there_are_the_32_of_the_reference():
    features = mx.runtime.Features()
    assert len(features) == 32
    assert list(features)[:4] == ["CUDA", "CUDNN", "NCCL", "CUDA_RTC"]
    assert [f.name for f in mx.runtime.feature_list()] == list(features)


def test_is_enabled_takes_any_case():
    features = mx.runtime.Features()
    assert features.is_enabled("openmp") is True
    assert features.is_enabled("TVM_OP") is False


def test_what_operators_need_of_libraries_is_there():
    features = mx.runtime.Features()
    assert all(features.is_enabled(name) for name in ("BLAS_OPEN", "LAPACK", "MKLDNN", "OPENCV", "INT64_TENSOR_SIZE"))


def test_unknown_feature_is_an_error():
    with pytest.raises(RuntimeError, match="OPENMP"):
        mx.runtime.Features().is_enabled("WARP_DRIVE")


def test_there_is_one_instance():
    first = mx.runtime.Features()
    first_length = len(first)
    assert mx.runtime.Features() is first
    assert len(first) == first_length


def test_shown_with_marks():
    assert repr(mx.runtime.Feature("A", True)) == "✔ A"
    assert "✖ TVM_OP" in repr(mx.runtime.Features())
