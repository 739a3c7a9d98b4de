# SPDX-License-Identifier: Apache-2.0
"""First values of parameters."""

import numpy as np
import pytest

import mxnet as mx


def filled(initializer, shape, name="fc_weight", attrs=None):
    array = mx.nd.full(shape, 9)
    initializer(mx.init.InitDesc(name, attrs), array)
    return array.asnumpy()


def test_the_ending_of_a_name_says_what_it_is():
    made = mx.init.Xavier()
    assert (filled(made, (3,), "fc_bias") == 0).all()
    assert (filled(made, (3,), "bn_gamma") == 1).all()
    assert (filled(made, (3,), "bn_beta") == 0).all()
    with pytest.raises(ValueError, match="given parameter 'foo'"):
        filled(made, (3,), "foo")


def test_an_attribute_of_the_variable_says_it_exactly():
    own = mx.init.Constant(2.5).dumps()
    assert (filled(mx.init.Zero(), (3,), "fc_weight", {"__init__": own}) == 2.5).all()


def test_the_seed_decides_the_draws():
    mx.random.seed(7)
    first = filled(mx.init.Uniform(0.5), (50,))
    mx.random.seed(7)
    assert (filled(mx.init.Uniform(0.5), (50,)) == first).all()
    assert np.abs(first).max() <= 0.5


def test_seeded_draws_are_those_of_the_reference():
    # Obtained by running the reference: seed 11, Xavier() on a weight of shape (2, 3).
    mx.random.seed(11)
    wanted = [[-0.43931139, 0.25676298, 0.02111769], [0.12364125, -0.1598711, -1.0729599]]
    np.testing.assert_allclose(filled(mx.init.Xavier(), (2, 3)), wanted, rtol=1e-6)


def test_draws_for_arrays_of_np_come_from_the_stream_of_np():
    with mx.util.np_shape(True), mx.util.np_array(True):
        for initializer in (mx.init.Uniform(0.1), mx.init.Normal(0.1)):
            array = mx.np.zeros((3, 4))
            mx.random.seed(3)
            initializer(mx.init.InitDesc("fc_weight"), array)
            after = mx.np.random.uniform(size=2)
            mx.random.seed(3)
            mx.np.random.uniform(size=12)
            assert (after == mx.np.random.uniform(size=2)).all()


def test_xavier_spreads_by_fan():
    mx.random.seed(1)
    values = filled(mx.init.Xavier(rnd_type="gaussian", factor_type="in", magnitude=2), (200, 50, 3, 3))
    assert values.std() == pytest.approx(np.sqrt(2 / (50 * 9)), rel=0.02)
    with pytest.raises(ValueError, match="at least 2 dimensions"):
        filled(mx.init.Xavier(), (3,))


def test_orthogonal_rows_are_orthogonal():
    mx.random.seed(2)
    values = filled(mx.init.Orthogonal(scale=2.0), (4, 10))
    np.testing.assert_allclose(values @ values.T, 4 * np.eye(4), atol=1e-4)


def test_bilinear_weights_interpolate():
    values = filled(mx.init.Bilinear(), (1, 1, 4, 4))[0, 0]
    np.testing.assert_allclose(values[1], np.array([0.25, 0.75, 0.75, 0.25]) * 0.75)
    with pytest.raises(ValueError, match=r"given a weight of shape \(3, 1\) for bilinear upsampling, expected four dimensions"):
        filled(mx.init.Bilinear(), (3, 1))


def test_lstm_bias_opens_the_forget_gate():
    values = filled(mx.init.LSTMBias(1.5), (8,), "lstm_i2h_bias")
    assert (values == 0).all()  # an ending decides before the initializer
    own = {"__init__": mx.init.LSTMBias(1.5).dumps()}
    assert filled(mx.init.Zero(), (8,), "lstm_i2h_bias", own).tolist() == [0, 0, 1.5, 1.5, 0, 0, 0, 0]


def test_mixed_takes_the_first_pattern_and_load_the_file(tmp_path):
    made = mx.init.Mixed(["fc1.*", ".*"], [mx.init.One(), mx.init.Zero()])
    assert (filled(made, (2,), "fc1_weight") == 1).all()
    assert (filled(made, (2,), "fc2_weight") == 0).all()
    path = str(tmp_path / "saved.params")
    mx.nd.save(path, {"arg:fc_weight": mx.nd.full((2,), 4)})
    for file in (path, tmp_path / "saved.params"):
        assert (filled(mx.init.Load(file), (2,)) == 4).all()
    with pytest.raises(ValueError, match="given shape"):
        filled(mx.init.Load(path), (3,))
    with pytest.raises(ValueError, match="default_init"):
        filled(mx.init.Load(path), (2,), "other_weight")


def test_create_takes_names_and_json():
    assert mx.init.create("zeros") == mx.init.Zero()
    assert mx.init.create(mx.init.Xavier(magnitude=2).dumps()) == mx.init.Xavier(magnitude=2)
    with pytest.raises(ValueError, match="given initializer 'foo', expected one of"):
        mx.init.create("foo")


def test_verbosity_is_a_line_of_the_log(caplog):
    with caplog.at_level("INFO"):
        filled(mx.init.One().set_verbosity(True), (4,))
    assert "fc_weight as weight: 1.0" in caplog.text
