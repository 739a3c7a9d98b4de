# SPDX-License-Identifier: Apache-2.0
"""Finished networks in mixed precision: which variables say what type. Types are those that release 1.9.1 gave."""

import numpy as np
import pytest

import mxnet as mx
from mxnet.contrib import amp
from mxnet.contrib.amp.loss_scaler import LossScaler

PARAMETERS = {"fc_weight": (3, 4), "fc_bias": (3,), "bn_gamma": (3,), "bn_beta": (3,)}
STATES = {"bn_moving_mean": (3,), "bn_moving_var": (3,)}
FULL, HALF = "0", "2"


def network():
    layer = mx.sym.FullyConnected(mx.sym.var("data"), num_hidden=3, name="fc")
    return mx.sym.softmax(mx.sym.BatchNorm(layer, name="bn"), name="sm")


def types(sym):
    return {name: attrs["__dtype__"] for name, attrs in sym.attr_dict().items() if "__dtype__" in attrs}


def casts(sym):
    return sorted(name for name in sym.get_internals().list_outputs() if "amp_cast" in name)


def test_without_names_of_data_variables_say_nothing():
    for cast in (False, True):
        made = amp.convert_symbol(network(), "float16", cast_optional_params=cast)
        assert types(made) == {}
        assert casts(made) == [
            "bn_output_amp_cast_float32_output", "data_amp_cast_float16_output", "fc_bias_amp_cast_float16_output",
            "fc_weight_amp_cast_float16_output",
        ]  # fmt: skip


def test_all_but_the_data_are_parameters():
    everything = dict.fromkeys([*PARAMETERS, *STATES], FULL)
    assert types(amp.convert_symbol(network(), "float16", data_names=["data"])) == everything
    made = amp.convert_symbol(network(), "float16", data_names=["data"], cast_optional_params=True)
    assert types(made) == {**everything, "fc_weight": HALF, "fc_bias": HALF}
    assert casts(made) == ["bn_output_amp_cast_float32_output", "data_amp_cast_float16_output"]


@pytest.mark.parametrize("cast", [False, True])
def test_arrays_of_a_model_have_the_types_that_its_variables_say(cast):
    arguments = {name: mx.nd.ones(shape) for name, shape in PARAMETERS.items()}
    states = {name: mx.nd.ones(shape) for name, shape in STATES.items()}
    made, arguments, states = amp.convert_model(network(), arguments, states, "float16", cast_optional_params=cast)
    said = types(made)
    for name, array in {**arguments, **states}.items():
        half = cast and name.startswith("fc")
        assert array.dtype == (np.float16 if half else np.float32) and said[name] == (HALF if half else FULL)


def test_lists_and_exclusions_replace_what_the_library_would_do():
    sym = network()
    assert casts(amp.convert_symbol(sym, "float16", excluded_sym_names=["fc"])) == []
    assert casts(amp.convert_symbol(sym, "float16", target_dtype_ops=[])) == ["bn_output_amp_cast_float32_output"]
    made = amp.convert_symbol(sym, "bfloat16", target_dtype_ops=["softmax"], fp32_ops=[])
    assert casts(made) == ["bn_output_amp_cast_bfloat16_output", "sm_output_amp_cast_float32_output"]
    made = amp.convert_symbol(sym, target_dtype_ops=[], conditional_fp32_ops=[("FullyConnected", "num_hidden", ["3"])])
    assert casts(made) == [f"{name}_amp_cast_float32_output" for name in ("data", "fc_bias", "fc_weight")]


def test_what_does_not_fit_is_refused():
    with pytest.raises(ValueError, match="expected each in one of the two"):
        amp.convert_symbol(network(), target_dtype_ops=["exp"], fp32_ops=["exp"])
    with pytest.raises(ValueError, match="expected arguments of the network"):
        amp.convert_symbol(network(), data_names=["nope"])
    with pytest.raises(ValueError, match="'int8'"):
        amp.convert_symbol(network(), "int8")
    with pytest.raises(ValueError, match="given excluded_sym_names 'fc', expected a list"):
        amp.convert_symbol(network(), excluded_sym_names="fc")
    for names in ("FullyConnected", ["FullyConected"]):
        with pytest.raises(ValueError, match=r"with \['Fully.*'\], expected a list of operators"):
            amp.convert_symbol(network(), target_dtype_ops=names)
        with pytest.raises(ValueError, match="given fp32_ops with"):
            amp.convert_symbol(network(), fp32_ops=names)


def test_without_the_native_module(run_python):
    done = run_python(
        "import mxnet as mx\n"
        "from mxnet.contrib import amp\n"
        "sym = mx.sym.Activation(mx.sym.FullyConnected(mx.sym.var('data'), num_hidden=3, name='fc'), act_type='softrelu')\n"
        "made = amp.convert_symbol(sym, data_names=['data'], cast_optional_params=True)\n"
        "assert made.attr_dict()['fc_weight']['__dtype__'] == '2', made.attr_dict()\n"
        "assert 'fc_output_amp_cast_float32_output' in made.get_internals().list_outputs()\n",
        env={"MXNET_ENABLE_CYTHON": "0"},
    )
    assert done.returncode == 0, done.stderr


def test_parameters_that_a_symbol_makes_are_cast_where_they_are_used(run_python):
    """So that a Module keeps them in float32."""
    done = run_python(
        "import mxnet as mx\n"
        "from mxnet.contrib import amp\n"
        "amp.init('bfloat16')\n"
        "x = mx.sym.var('x')\n"
        "layer = mx.sym.FullyConnected(x, mx.sym.var('weight'), num_hidden=3, name='fc')\n"
        "assert layer.list_arguments() == ['x', 'weight', 'fc_bias'], layer.list_arguments()\n"
        "casts = [name for name in layer.get_internals().list_outputs() if 'amp_cast' in name]\n"
        "assert casts == ['amp_cast0_output', 'amp_cast1_output', 'amp_cast2_output'], casts\n"
        "both = mx.sym.Group([layer, mx.sym.norm(x)])\n"
        "assert both.list_arguments() == ['x', 'weight', 'fc_bias'], both.list_arguments()\n"
        "out = mx.sym.SoftmaxOutput(mx.sym.BatchNorm(layer, name='bn'), name='softmax')\n"
        "module = mx.mod.Module(out, data_names=['x'])\n"
        "module.bind([('x', (4, 5))], [('softmax_label', (4,))])\n"
        "module.init_params()\n"
        "types = {str(value.dtype) for value in module.get_params()[0].values()}\n"
        "assert types == {\"<class 'numpy.float32'>\"}, types\n"
        "module.forward(mx.io.DataBatch([mx.nd.ones((4, 5))], [mx.nd.ones(4)]), is_train=True)\n"
        "module.backward()\n"
        "mx.nd.waitall()\n"
    )
    assert done.returncode == 0, done.stderr


def test_a_converted_block_is_where_arrays_can_be():
    net = mx.gluon.nn.Dense(2, in_units=3)
    net.initialize()
    net.hybridize()
    net(mx.nd.ones((1, 3)))
    made = amp.convert_hybrid_block(net, target_dtype="bfloat16")
    assert made.collect_params().list_ctx() == [mx.gpu(0) if mx.context.num_gpus() else mx.cpu()]


def test_a_new_scale_counts_from_the_second_step():
    param = mx.gluon.Parameter("weight", shape=(2,))
    param.initialize()
    scaler = LossScaler()
    scaler._scale_seq_len = 3
    scales = []
    for value in [np.inf, np.inf, 1, 1, 1, 1]:
        param.grad()[:] = value
        assert scaler.has_overflow([param]) == np.isinf(value)
        scales.append(scaler.loss_scale)
    assert scales == [65536, 32768, 16384, 16384, 16384, 32768]


def test_aliases_are_of_the_kind_of_their_operator():
    for dtype in ("float16", "bfloat16"):
        assert {"linalg_gemm2", "_linalg_gemm2", "_sparse_exp", "_PowerScalar", "topk", "ctc_loss"} <= {*amp.list_fp32_ops(dtype)}
        assert {"SoftmaxOutput", "Softmax"} <= {*amp.list_loss_output_functions(dtype)}
        assert {"concat", "_contrib_ROIAlign", "random_pdf_normal"} <= {*amp.list_widest_type_cast(dtype)}
        assert {"reshape_like", "broadcast_like", "Embedding"} <= {*amp.list_lp16_fp32_ops(dtype)}


NAMESPACES = """
import sys

import mxnet as mx
from mxnet.contrib import amp

amp.init(sys.argv[1])
half, full = mx.nd.ones((2, 3, 4)).astype(sys.argv[1]), mx.nd.ones((2, 3, 4))
same = mx.nd.ones((1, 2, 8))
assert mx.nd.linalg.gemm2(half, half, transpose_b=True).dtype == full.dtype
assert mx.nd.contrib.interleaved_matmul_encdec_valatt(same, mx.nd.ones((4, 3, 1)).astype(sys.argv[1]), heads=2).dtype == full.dtype
symbols = mx.sym.contrib.interleaved_matmul_encdec_valatt(mx.sym.var("kv"), mx.sym.var("attention"), heads=2)
assert symbols.infer_type(kv="float32", attention=half.dtype)[1] == [full.dtype]
"""


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_operators_of_namespaces_cast_too(run_python, dtype):
    done = run_python(NAMESPACES, dtype)
    assert done.returncode == 0, done.stderr
