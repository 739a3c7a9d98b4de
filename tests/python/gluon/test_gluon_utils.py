# SPDX-License-Identifier: Apache-2.0
"""Helpers of training loops: parts of batches, clipping, and downloads."""

import hashlib

import numpy as np
import pytest

import mxnet as mx
from mxnet.gluon import utils


def test_parts_of_a_batch():
    x = mx.nd.arange(14).reshape((7, 2))
    assert [part.shape for part in utils.split_data(x, 3, even_split=False)] == [(3, 2), (2, 2), (2, 2)]
    assert [part.shape for part in utils.split_data(x, 2, batch_axis=1)] == [(7, 1), (7, 1)]
    parts = utils.split_data(x, 7)
    np.testing.assert_array_equal(mx.nd.concat(*parts, dim=0).asnumpy(), x.asnumpy())
    with pytest.raises(ValueError, match="expected a multiple of 3"):
        utils.split_data(x, 3)


def test_parts_go_to_their_devices():
    parts = utils.split_and_load(np.ones((4, 2)), [mx.cpu(0), mx.cpu(1)])
    assert [part.context for part in parts] == [mx.cpu(0), mx.cpu(1)] and parts[1].shape == (2, 2)
    assert utils.split_and_load([1, 2, 3], [mx.cpu(2)])[0].context == mx.cpu(2)


def test_clipping_by_the_norm_of_all():
    arrays = [mx.nd.ones((2, 2)), mx.nd.full((3,), 2)]
    before = utils.clip_global_norm(arrays, 1.0)
    assert before == pytest.approx(4.0) and type(before) is np.float32
    np.testing.assert_allclose(arrays[0].asnumpy(), 0.25, rtol=1e-5)
    np.testing.assert_allclose(arrays[1].asnumpy(), 0.5, rtol=1e-5)
    norm = utils.clip_global_norm(arrays, 10.0, check_isfinite=False)
    assert isinstance(norm, mx.nd.NDArray) and norm.asscalar() == pytest.approx(1.0, rel=1e-4)
    np.testing.assert_allclose(arrays[0].asnumpy(), 0.25, rtol=1e-5)
    with pytest.warns(UserWarning, match="not a number"):
        assert np.isnan(utils.clip_global_norm([mx.nd.array([np.nan])], 1.0))
    with pytest.raises(AssertionError, match="at least one"):
        utils.clip_global_norm([], 1.0)


def test_the_norm_of_one_array_or_of_what_is_gone_through_once_is_clipped_in_place():
    one, two = mx.nd.array([[3.0, 0.0], [0.0, 4.0]]), mx.nd.array([[3.0, 0.0], [0.0, 4.0]])
    assert utils.clip_global_norm(one, 1.0) == utils.clip_global_norm((row for row in [two]), 1.0) == 5
    np.testing.assert_allclose(one.asnumpy(), [[0.6, 0], [0, 0.8]], rtol=1e-6)
    np.testing.assert_array_equal(one.asnumpy(), two.asnumpy())


@pytest.mark.parametrize("shapes", [False, True])
def test_clipping_of_several_types_kinds_and_devices(shapes):
    with mx.util.np_shape(shapes):
        arrays = [
            mx.nd.full((2, 2), 3), mx.np.full((3,), 2), mx.nd.full((2,), 1, dtype="float16"), mx.nd.full((1, 2), 2, ctx=mx.cpu(1)),
            mx.np.full((4,), 1, ctx=mx.cpu(1)), mx.nd.full((1,), 5, dtype="float64"),
        ]  # fmt: skip
        before = [array.asnumpy() for array in arrays]
        norm = np.sqrt(sum((values.astype(np.float64) ** 2).sum() for values in before))
        assert mx.gluon.utils.clip_global_norm(arrays, 2.0) == pytest.approx(norm)
        for array, values in zip(arrays, before):
            assert array.dtype == values.dtype and array.shape == values.shape
            np.testing.assert_allclose(array.asnumpy(), values * (2 / norm), rtol=1e-3 if values.dtype == np.float16 else 1e-5)


def test_clipping_of_row_sparse_arrays():
    rows, none = mx.nd.array([[0.0, 0], [3, 4], [0, 0]]).tostype("row_sparse"), mx.nd.sparse.zeros("row_sparse", (3, 2))
    arrays = [rows, mx.nd.array([12.0]), none]
    assert utils.clip_global_norm(arrays, 6.5) == pytest.approx(13)
    assert [array.stype for array in arrays] == ["row_sparse", "default", "row_sparse"]
    np.testing.assert_allclose(rows.asnumpy(), [[0, 0], [1.5, 2], [0, 0]], rtol=1e-6)
    np.testing.assert_allclose(arrays[1].asnumpy(), [6], rtol=1e-6)
    assert rows.indices.asnumpy().tolist() == [1] and not none.asnumpy().any()


def test_zeros_leave_a_shape_unknown_unless_numpys_rules_hold():
    assert utils.shape_is_known((2, 3))
    assert not any(utils.shape_is_known(shape) for shape in (None, (), (0, 2)))
    with mx.util.np_shape():
        assert utils.shape_is_known(()) and utils.shape_is_known((0, 2)) and not utils.shape_is_known((-1, 2))
    with pytest.raises(AssertionError):
        utils.shape_is_known((-1,))


@pytest.fixture
def source(tmp_path):
    path = tmp_path / "source" / "data.bin"
    path.parent.mkdir()
    path.write_bytes(b"some bytes")
    return path


def test_download_into_folders_and_under_names(tmp_path, source, monkeypatch):
    digest = hashlib.sha1(b"some bytes").hexdigest()
    folder = tmp_path / "folder"
    folder.mkdir()
    assert utils.download(source.as_uri(), path=str(folder)) == str(folder / "data.bin")
    named = tmp_path / "new" / "name"
    assert utils.download(source.as_uri(), path=str(named), sha1_hash=digest) == str(named)
    assert named.read_bytes() == b"some bytes" and utils.check_sha1(str(named), digest[:8])
    monkeypatch.chdir(tmp_path)
    assert utils.download(source.as_uri()) == "data.bin"


def test_download_happens_only_when_it_has_to(tmp_path, source):
    digest = hashlib.sha1(b"some bytes").hexdigest()
    target = tmp_path / "kept"
    target.write_bytes(b"other")
    utils.download(source.as_uri(), path=str(target))
    assert target.read_bytes() == b"other"
    utils.download(source.as_uri(), path=str(target), sha1_hash=digest)
    assert target.read_bytes() == b"some bytes"
    source.write_bytes(b"newer")
    utils.download(source.as_uri(), path=str(target), overwrite=True)
    assert target.read_bytes() == b"newer"


def test_failed_download_says_what_to_do_and_leaves_nothing(tmp_path, source, capsys):
    target = tmp_path / "gone"
    with pytest.raises(OSError, match="MXNET_GLUON_REPO"):
        utils.download((tmp_path / "missing").as_uri(), path=str(target), retries=1)
    assert "1 attempt left" in capsys.readouterr().out
    with pytest.raises(OSError, match="another SHA-1"):
        utils.download(source.as_uri(), path=str(target), sha1_hash="0" * 40, retries=0)
    assert not target.exists() and [path.name for path in tmp_path.iterdir()] == ["source"]
    with pytest.raises(AssertionError, match="no file name"):
        utils.download("http://localhost/")
