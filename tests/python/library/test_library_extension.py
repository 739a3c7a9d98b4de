# SPDX-License-Identifier: Apache-2.0
"""Extension libraries, compiled as users do: their operators, passes and partitioners are those of the package."""

import json
import threading

import mxnet as mx
import numpy as np
import pytest
from extension_examples import COMPILER, HEADER, INITIALIZE, compiled_text, example
from mxnet import autograd, gluon
from several_threads import together

pytestmark = pytest.mark.skipif(COMPILER is None, reason="needs a C++ compiler")
SEED = 20260814


@pytest.fixture(scope="session", autouse=True)
def examples():
    """Both examples, loaded once: names stay for as long as the process lives."""
    for name in ("operators", "graphs"):
        mx.library.load(example(name), verbose=False)


def matrices():
    rng = np.random.default_rng(SEED)
    return rng.standard_normal((3, 4)).astype("float32"), rng.standard_normal((4, 5)).astype("float32")


def test_an_operator_of_an_extension_computes():
    a, b = matrices()
    result = mx.nd.example_gemm(mx.nd.array(a), mx.nd.array(b))
    np.testing.assert_allclose(result.asnumpy(), a @ b, rtol=1e-5)


def test_gradient_through_autograd():
    a, b = (mx.nd.array(x) for x in matrices())
    a.attach_grad(), b.attach_grad()
    with autograd.record():
        loss = (mx.nd.example_gemm(a, b) ** 2).sum()
    loss.backward()
    c = a.asnumpy() @ b.asnumpy()
    np.testing.assert_allclose(a.grad.asnumpy(), 2 * c @ b.asnumpy().T, rtol=1e-4)
    np.testing.assert_allclose(b.grad.asnumpy(), 2 * a.asnumpy().T @ c, rtol=1e-4)


def test_gradient_through_an_executor():
    a, b = matrices()
    net = mx.sym.example_gemm(mx.sym.var("a"), mx.sym.var("b"), name="product")
    assert net.list_outputs() == ["product_output"]
    assert net.infer_shape(a=(3, 4), b=(4, 5))[1] == [(3, 5)]
    executor = net.bind(mx.cpu(), {"a": mx.nd.array(a), "b": mx.nd.array(b)},
                        args_grad={"a": mx.nd.zeros((3, 4)), "b": mx.nd.zeros((4, 5))})
    executor.forward(is_train=True)
    executor.backward(mx.nd.ones((3, 5)))
    np.testing.assert_allclose(executor.outputs[0].asnumpy(), a @ b, rtol=1e-5)
    np.testing.assert_allclose(executor.grad_dict["a"].asnumpy(), np.ones((3, 5)) @ b.T, rtol=1e-4)


def test_in_a_saved_network():
    net = mx.sym.example_gemm(mx.sym.var("a"), mx.sym.var("b"))
    again = mx.sym.load_json(net.tojson())
    assert again.tojson() == net.tojson()
    assert again.list_arguments() == ["a", "b"]


def test_input_that_is_written():
    data, mean = mx.nd.array([1.0, 2.0]), mx.nd.array([3.0, 5.0])
    result = mx.nd.example_running_mean(data, mean, momentum=0.5)
    np.testing.assert_allclose(mean.asnumpy(), [2.0, 3.5])
    np.testing.assert_allclose(result.asnumpy(), [2.0, 3.5])
    net = mx.sym.example_running_mean(mx.sym.var("data"), mx.sym.var("mean"))
    assert net.list_auxiliary_states() == ["mean"]


@pytest.mark.parametrize("call, message", [
    (lambda: mx.nd.example_gemm(mx.nd.ones((2, 3)), mx.nd.ones((2, 3))), "as many columns"),
    (lambda: mx.nd.example_gemm(mx.nd.ones((2, 3), dtype="int32"), mx.nd.ones((3, 2), dtype="int32")), "expected float32"),
    (lambda: mx.nd.example_gemm(mx.nd.ones((2, 3))), "example_gemm"),
    (lambda: mx.nd.example_running_mean(mx.nd.ones(2), mx.nd.ones(2), momentum="much").wait_to_read(), "stof"),
])
def test_errors_are_the_extensions_own_text(call, message):
    with pytest.raises((mx.MXNetError, ValueError, TypeError), match=message):
        call()


def test_state_lives_from_a_call_to_its_gradient():
    x = mx.nd.array([1.0, 10.0])
    x.attach_grad()
    with autograd.record():
        first = mx.nd.example_counter(x)
        second = mx.nd.example_counter(x)  # while the first is still needed: a state of its own
        both = first + second
    both.backward()
    scale = both.asnumpy()[0]
    np.testing.assert_allclose(x.grad.asnumpy(), [scale, scale])


ALONE = HEADER + """
#include <atomic>
#include <chrono>
#include <thread>
// Twice the input; while a function of a state runs, no other of it may.
class Alone : public CustomStatefulOp {
 public:
  MXReturnValue Forward(Tensors* inputs, Tensors* outputs, const OpResource&) override { return twice(*inputs, *outputs); }
  MXReturnValue Backward(Tensors* inputs, Tensors* outputs, const OpResource&) override { return twice(*inputs, *outputs); }
 private:
  MXReturnValue twice(const Tensors& from, const Tensors& to) {
    if (busy_.exchange(true)) throw std::runtime_error("two functions of a state at once");
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    for (int64_t i = 0; i < from[0].size(); ++i) to[0].data<float>()[i] = 2 * from[0].data<float>()[i];
    busy_ = false;
    return MX_SUCCESS;
  }
  std::atomic<bool> busy_{false};
};
MXReturnValue types(const Attributes&, std::vector<int>* in, std::vector<int>* out) { return *out = *in, MX_SUCCESS; }
MXReturnValue shapes(const Attributes&, ShapeList* in, ShapeList* out) { return *out = *in, MX_SUCCESS; }
MXReturnValue counts(const Attributes&, int* in, int* out) { return *in = *out = 1, MX_SUCCESS; }
MXReturnValue make(const Attributes&, const MXContext&, const ShapeList&, const std::vector<int>, CustomStatefulOp** state) {
  return *state = new Alone, MX_SUCCESS;
}
REGISTER_OP(test_alone).setParseAttrs(counts).setInferType(types).setInferShape(shapes).setCreateOpState(make, "cpu");
""" + INITIALIZE


def test_threads_that_differentiate_one_call_take_turns_at_its_state(tmp_path):
    mx.library.load(compiled_text(tmp_path, "alone", ALONE), verbose=False)
    x = mx.nd.ones(3, ctx=mx.cpu())
    x.attach_grad()
    with autograd.record():
        y = mx.nd.test_alone(x)

    def gradients(_):
        return [autograd.grad(y, [x], retain_graph=True)[0].asnumpy() for _ in range(10)]

    np.testing.assert_array_equal(together(gradients), np.full((4, 10, 3), 2))


ENDING = HEADER + """
#include <pthread.h>
class Ending : public CustomStatefulOp {
 public:
  MXReturnValue Forward(Tensors*, Tensors*, const OpResource&) override { pthread_exit(nullptr); }
};
MXReturnValue types(const Attributes&, std::vector<int>* in, std::vector<int>* out) { return *out = *in, MX_SUCCESS; }
MXReturnValue shapes(const Attributes&, ShapeList* in, ShapeList* out) { return *out = *in, MX_SUCCESS; }
MXReturnValue counts(const Attributes&, int* in, int* out) { return *in = *out = 1, MX_SUCCESS; }
MXReturnValue make(const Attributes&, const MXContext&, const ShapeList&, const std::vector<int>, CustomStatefulOp** state) {
  return *state = new Ending, MX_SUCCESS;
}
MXReturnValue end(const Attributes&, Tensors*, Tensors*, const OpResource&) { pthread_exit(nullptr); }
REGISTER_OP(test_end_of_state).setParseAttrs(counts).setInferType(types).setInferShape(shapes).setCreateOpState(make, "cpu");
REGISTER_OP(test_end).setParseAttrs(counts).setInferType(types).setInferShape(shapes).setForward(end, "cpu");
""" + INITIALIZE


@pytest.mark.parametrize("native", ["1", "0"])
@pytest.mark.parametrize("engine", ["ThreadedEnginePerDevice", "NaiveEngine"])
def test_an_extension_that_ends_its_thread_fails_and_the_thread_goes_on(run_python, tmp_path, native, engine):
    """Whether it is the caller's own, as with a state, or one of the engine's, without."""
    done = run_python(f"""
import threading
import mxnet as mx
mx.library.load({compiled_text(tmp_path, "ending", ENDING)!r}, verbose=False)

def call(name):
    for _ in range(10):
        try:
            getattr(mx.nd, name)(mx.nd.ones(3)).wait_to_read()
        except mx.MXNetError as error:
            assert name in str(error) and "ended its thread" in str(error), error
        else:
            raise AssertionError(name)
        try:  # errors are caught as before
            int("no number")
        except ValueError:
            pass
    print(name)

for name in ("test_end_of_state", "test_end"):
    call(name)
    thread = threading.Thread(target=call, args=(name,))
    thread.start()
    thread.join()
print((mx.nd.ones(2) + 1).asnumpy().tolist())
raise SystemExit(7)
""", env={"MXNET_ENABLE_CYTHON": native, "MXNET_ENGINE_TYPE": engine})
    names = ["test_end_of_state", "test_end_of_state", "test_end", "test_end"]
    assert (done.returncode, done.stdout.split("\n"), done.stderr) == (7, [*names, "[2.0, 2.0]", ""], "")


def test_state_of_a_bound_network_is_its_own():
    net = mx.sym.example_counter(mx.sym.var("x"))
    executors = [net.bind(mx.cpu(), {"x": mx.nd.ones(1)}) for _ in range(2)]
    counts = [float(executor.forward()[0].asscalar()) for executor in executors for _ in range(3)]
    assert counts == [1, 2, 3, 1, 2, 3]


def test_in_a_hybridized_block():
    class Product(gluon.HybridBlock):
        def hybrid_forward(self, F, a, b):
            return F.relu(F.example_gemm(a, b))

    a, b = matrices()
    block = Product()
    eager = block(mx.nd.array(a), mx.nd.array(b)).asnumpy()
    block.hybridize()
    np.testing.assert_array_equal(block(mx.nd.array(a), mx.nd.array(b)).asnumpy(), eager)
    np.testing.assert_allclose(eager, np.maximum(a @ b, 0), rtol=1e-5)


def test_threads_share_an_operator():
    a, b = matrices()
    failures = []

    def work():
        for _ in range(50):
            result = mx.nd.example_gemm(mx.nd.array(a), mx.nd.array(b)).asnumpy()
            if not np.allclose(result, a @ b, rtol=1e-5):
                failures.append(result)
            mx.nd.example_counter(mx.nd.ones(3)).wait_to_read()

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


def test_pass_adds_a_parameter():
    args = {"x": mx.nd.array([2.0, 4.0])}
    halved = mx.sym.exp(mx.sym.var("x"), name="e").optimize_for("example_half", args, factor=0.25)
    assert halved.list_arguments() == ["x", "e_factor"]
    np.testing.assert_allclose(args["e_factor"].asnumpy(), [0.25])
    result = halved.bind(mx.cpu(), args).forward()[0].asnumpy()
    np.testing.assert_allclose(result, np.exp([2.0, 4.0]) * 0.25, rtol=1e-6)


def chain_network():
    x = mx.sym.var("x")
    return mx.sym.exp(mx.sym.sin(mx.sym.log(mx.sym.exp(x))))


def test_parts_run_in_the_extension():
    net = chain_network()
    parts = net.optimize_for("example_chains")
    assert [node["op"] for node in json.loads(parts.tojson())["nodes"]] == [
        "null", "example_chain", "sin", "example_chain"]
    x = np.linspace(0.5, 2, 6, dtype="float32")
    expected = net.bind(mx.cpu(), {"x": mx.nd.array(x)}).forward()[0].asnumpy()
    got = parts.bind(mx.cpu(), {"x": mx.nd.array(x)}).forward()[0].asnumpy()
    np.testing.assert_allclose(got, expected, rtol=1e-5)
    again = mx.sym.load_json(parts.tojson()).bind(mx.cpu(), {"x": mx.nd.array(x)}).forward()[0].asnumpy()
    np.testing.assert_array_equal(again, got)


def test_review_refuses_small_parts():
    parts = chain_network().optimize_for("example_chains", smallest=2)
    nodes = json.loads(parts.tojson())["nodes"]
    assert [node["op"] for node in nodes] == ["null", "example_chain", "sin", "exp"]
    assert nodes[1]["attrs"]["nodes"] == "2"


def test_selector_walks_through_the_network():
    net = chain_network()
    parts = net.optimize_for("example_walks")
    assert [node["op"] for node in json.loads(parts.tojson())["nodes"]] == [
        "null", "_CachedOp", "sin", "_CachedOp"]
    x = mx.nd.array([0.5, 1.5])
    np.testing.assert_allclose(parts.bind(mx.cpu(), {"x": x}).forward()[0].asnumpy(),
                               net.bind(mx.cpu(), {"x": x}).forward()[0].asnumpy(), rtol=1e-6)


def operators_of(symbol):
    return [node["op"] for node in json.loads(symbol.tojson())["nodes"] if node["op"] != "null"]


@pytest.mark.parametrize("backend, operators", [
    ("example_chains", ["example_chain", "sin", "example_chain"]), ("example_walks", ["_CachedOp", "sin", "_CachedOp"]),
    ("NONE", ["exp", "log", "sin", "exp"])])
def test_a_bound_network_has_the_parts_of_the_backend_that_the_environment_names(backend, operators):
    net = chain_network()
    x = mx.nd.array([0.5, 1.5], ctx=mx.cpu())
    expected = net.bind(mx.cpu(), {"x": x}).forward()[0].asnumpy()
    with mx.util.environment("MXNET_SUBGRAPH_BACKEND", backend):
        executors = [net.bind(mx.cpu(), {"x": x}), net.simple_bind(mx.cpu(), x=(3,), grad_req="null").reshape(x=(2,), allow_up_sizing=True)]
    for executor in executors:
        executor.arg_dict["x"][:] = x
        assert operators_of(executor.get_optimized_symbol()) == operators
        np.testing.assert_allclose(executor.forward()[0].asnumpy(), expected, rtol=1e-5)
        seen = []
        executor.set_monitor_callback(lambda name, _: seen.append(name))
        np.testing.assert_allclose(executor.forward()[0].asnumpy(), expected, rtol=1e-5)
        assert any("example_chain" in name for name in seen) == (backend == "example_chains")


def test_a_block_is_not_bound_and_computes_with_a_backend_of_the_environment():
    block = gluon.SymbolBlock(chain_network(), [mx.sym.var("x")])
    block.hybridize()
    x = mx.nd.array([0.5, 1.5])
    with mx.util.environment("MXNET_SUBGRAPH_BACKEND", "example_chains"):
        np.testing.assert_allclose(block(x).asnumpy(), np.exp(np.sin(x.asnumpy())), rtol=1e-5)


def test_a_network_that_is_bound_to_devices_by_groups_has_no_parts():
    with mx.util.environment("MXNET_SUBGRAPH_BACKEND", "example_chains"):
        executor = chain_network().bind(mx.cpu(), {"x": mx.nd.ones(2, ctx=mx.cpu())}, group2ctx={"far": mx.cpu(1)})
        np.testing.assert_allclose(executor.forward()[0].asnumpy(), np.exp(np.sin([1, 1])), rtol=1e-5)
    assert operators_of(executor.get_optimized_symbol()) == ["exp", "log", "sin", "exp"]


def test_arrays_of_a_network_with_parts_stay_in_the_order_of_its_arguments():
    """Parts list what they read in an order of their own."""
    a, b, c = (mx.sym.var(name) for name in "abc")
    net = mx.sym.exp(mx.sym.BlockGrad(c)) + mx.sym.exp(b * mx.sym.log(a))
    values = {"a": [1.0, 2.0], "b": [3.0, 4.0], "c": [0.5, 0.25]}
    arrays = {name: mx.nd.array(value, ctx=mx.cpu()) for name, value in values.items()}
    slopes = {name: mx.nd.zeros(2, ctx=mx.cpu()) for name in values}
    with mx.util.environment("MXNET_SUBGRAPH_BACKEND", "example_walks"):
        executor = net.bind(mx.cpu(), arrays, args_grad=slopes)
        assert list(executor.arg_dict) == net.list_arguments()
        result = executor.forward(is_train=True)[0].asnumpy()
        executor.backward(mx.nd.ones(2, ctx=mx.cpu()))
    a, b, c = (np.array(values[name]) for name in "abc")
    np.testing.assert_allclose(result, np.exp(c) + a**b, rtol=1e-5)
    np.testing.assert_allclose(slopes["a"].asnumpy(), b * a**(b - 1), rtol=1e-5)
    np.testing.assert_allclose(slopes["b"].asnumpy(), a**b * np.log(a), rtol=1e-5)
    np.testing.assert_array_equal(slopes["c"].asnumpy(), [0, 0])


def test_parts_without_a_gradient_are_errors_of_backward_alone():
    with mx.util.environment("MXNET_SUBGRAPH_BACKEND", "example_chains"):
        executor = chain_network().simple_bind(mx.cpu(), x=(2,))
        executor.arg_dict["x"][:] = 0.5
        np.testing.assert_allclose(executor.forward()[0].asnumpy(), np.exp(np.sin([0.5, 0.5])), rtol=1e-5)
        with pytest.raises(mx.MXNetError, match="example_chain"):
            executor.forward(is_train=True)
            executor.backward()


@pytest.mark.parametrize("backend", ["nosuch", "example_half"])
def test_a_backend_that_nothing_can_be_bound_with_is_an_error_that_lists_those_there_are(backend):
    with mx.util.environment("MXNET_SUBGRAPH_BACKEND", backend):
        with pytest.raises(mx.MXNetError, match=f"given {backend}, expected one of: ONEDNN.*, example_chains.*, example_walks") as error:
            chain_network().simple_bind(mx.cpu(), x=(2,)).forward()
    assert ", example_half" not in str(error.value)  # passes may add parameters


def test_an_unknown_backend_of_optimize_for_is_an_error_that_lists_passes_and_partitioners():
    with pytest.raises(mx.MXNetError, match="given nosuch, expected one of: ONEDNN.*, example_chains.*, example_half.*, example_walks"):
        chain_network().optimize_for("nosuch")


BACKENDS = """
// Stands for any part, and gives half as many zeros.
MXReturnValue attrs(const Attributes&, int* inputs, int* outputs) { *inputs = *outputs = 1; return MX_SUCCESS; }
MXReturnValue half(const Attributes&, ShapeList* inputs, ShapeList* outputs) {
  outputs->at(0) = inputs->at(0);
  outputs->at(0).at(0) = (outputs->at(0).at(0) + 1) / 2;
  return MX_SUCCESS;
}
class Zeros : public CustomStatefulOp {
 public:
  MXReturnValue Forward(Tensors*, Tensors* o, const OpResource&) override {
    std::fill_n(o->at(0).data<float>(), o->at(0).size(), 0.f);
    return MX_SUCCESS;
  }
};
MXReturnValue state(const Attributes&, const MXContext&, const ShapeList&, const std::vector<int>, CustomStatefulOp** made) {
  *made = new Zeros;
  return MX_SUCCESS;
}
REGISTER_OP(test_shorter).setIsSubgraphOp().setParseAttrs(attrs).setInferShape(half).setCreateOpState(state, "cpu");

MXReturnValue choose(const Graph* graph, std::vector<int>* ids, const char* op) {
  for (size_t n = 0; n < graph->size(); ++n)
    if (graph->getNode(n)->op == op) ids->at(n) = kAnyPart;
  return MX_SUCCESS;
}
MXReturnValue exps(const Graph* graph, std::vector<int>* ids, const Attributes&) { return choose(graph, ids, "exp"); }
MXReturnValue sines(const Graph* graph, std::vector<int>* ids, const Attributes&) { return choose(graph, ids, "sin"); }
MXReturnValue pairs(const Graph* graph, std::vector<int>* ids, const Attributes&) {
  for (size_t n = 0; n < graph->size(); ++n) {
    const Node* node = graph->getNode(n);
    if (node->op == "exp" && node->shapes.at(0) == std::vector<int64_t>{2} && node->dtypes.at(0) == kFloat32)
      ids->at(n) = kAnyPart;
  }
  return MX_SUCCESS;
}
MXReturnValue fails(const Graph*, std::vector<int>*, const Attributes&) { MX_ERROR_MSG << "not this network"; return MX_FAIL; }
REGISTER_PARTITIONER(test_shortens).addStrategy("exp", "test_shorter").setSupportedOps("exp", exps);
REGISTER_PARTITIONER(test_of_pairs).addStrategy("exp", "_CachedOp").setSupportedOps("exp", pairs);
REGISTER_PARTITIONER(test_one_by_one)
    .addStrategy("exp", "_CachedOp").setSupportedOps("exp", exps)
    .addStrategy("sin", "_CachedOp").setSupportedOps("sin", sines);
REGISTER_PARTITIONER(test_fails).addStrategy("exp", "_CachedOp").setSupportedOps("exp", fails);
"""


@pytest.fixture(scope="module")
def backends(tmp_path_factory):
    mx.library.load(compiled_text(tmp_path_factory.mktemp("backends"), "backends", HEADER + BACKENDS + INITIALIZE), verbose=False)


@pytest.mark.parametrize("backend, length, operators", [
    ("test_of_pairs", 2, ["_CachedOp", "log", "sin", "_CachedOp"]), ("test_of_pairs", 3, ["exp", "log", "sin", "exp"]),
    ("test_one_by_one", 2, ["_CachedOp", "log", "_CachedOp", "_CachedOp"]), ("test_shortens", 1, ["test_shorter", "log", "sin", "test_shorter"])])
def test_a_backend_of_the_environment_sees_types_and_goes_over_the_network_with_each_strategy(backends, backend, length, operators):
    with mx.util.environment("MXNET_SUBGRAPH_BACKEND", backend):
        executor = chain_network().simple_bind(mx.cpu(), x=(length,), grad_req="null")
    assert operators_of(executor.get_optimized_symbol()) == operators


@pytest.mark.parametrize("backend, message", [
    ("test_shortens", r"given the backend test_shortens, whose result 0 of '.*test_shorter.*' is float32 \(1,\), expected float32 \(4,\)"),
    ("test_fails", "not this network")])
def test_backends_of_the_environment_that_do_not_fit_are_errors_of_bind(backends, backend, message):
    with mx.util.environment("MXNET_SUBGRAPH_BACKEND", backend):
        with pytest.raises(mx.MXNetError, match=message):
            chain_network().simple_bind(mx.cpu(), x=(4,), grad_req="null")


def test_loading_again_changes_nothing():
    before = mx.nd.example_gemm
    mx.library.load(example("operators"))
    assert mx.nd.example_gemm(mx.nd.ones((1, 1)), mx.nd.ones((1, 1))).asscalar() == 1
    assert before.__name__ == "example_gemm"


FUNCTIONS = """
MXReturnValue body(Graph*, const Attributes&) { return MX_SUCCESS; }
MXReturnValue f(const Attributes&, Tensors*, Tensors*, const OpResource&) { return MX_SUCCESS; }
MXReturnValue p(const Attributes&, int*, int*) { return MX_SUCCESS; }
MXReturnValue s(const Attributes&, ShapeList*, ShapeList*) { return MX_SUCCESS; }
"""


@pytest.mark.parametrize("name, code, message", [
    ("version", 'extern "C" int MXExtensionVersion() { return 999; }', "interface 999, expected 1"),
    ("release", 'extern "C" int _opRegSize() { return 0; }', "an extension of the 1.x release"),
    ("nothing", "int nothing;", "lib_api.h"),
    ("refuses", HEADER + 'MXReturnValue initialize(int) { MX_ERROR_MSG << "not today"; return MX_FAIL; }', "not today"),
    ("throws", HEADER + 'MXReturnValue initialize(int) { throw std::runtime_error("a bad day"); }', "a bad day"),
    ("taken", HEADER + FUNCTIONS + INITIALIZE + 'REGISTER_OP(softmax).setForward(f, "cpu").setParseAttrs(p).setInferShape(s);\n',
     "'softmax'.*a name that is free"),
    ("gpu", HEADER + FUNCTIONS + INITIALIZE + 'REGISTER_OP(example_far).setForward(f, "gpu");\n', 'given "gpu", expected "cpu"'),
])
def test_libraries_that_do_not_fit(tmp_path, name, code, message):
    with pytest.raises((mx.MXNetError, ValueError), match=message):
        mx.library.load(compiled_text(tmp_path, name, code))


def test_a_library_that_is_refused_leaves_no_pass_behind(tmp_path):
    """Its code is gone: a pass that stayed would be called at an address of nothing."""
    register = 'REGISTER_OP(example_twice).setForward(f, "cpu").setParseAttrs(p).setInferShape(s);\n'
    code = HEADER + FUNCTIONS + INITIALIZE + "REGISTER_PASS(example_left_behind).setBody(body);\n" + 2 * register
    with pytest.raises(mx.MXNetError, match="'example_twice'.*a name that is free"):
        mx.library.load(compiled_text(tmp_path, "twice", code))
    with pytest.raises(mx.MXNetError, match="example_left_behind"):
        mx.sym.exp(mx.sym.var("x")).optimize_for("example_left_behind")


@pytest.mark.parametrize("path, message", [("/nowhere.so", "file that exists"), (__file__, "a shared library")])
def test_paths_of_no_library_are_errors_of_the_library(path, message):
    with pytest.raises(mx.MXNetError, match=message):
        mx.library.load(path)


LOSS = """
MXReturnValue square(Tensors* inputs, Tensors* outputs) {
  const float* x = inputs->at(0).data<float>();
  for (int64_t i = 0; i < inputs->at(0).size(); ++i) outputs->at(0).data<float>()[i] = x[i] * x[i];
  return MX_SUCCESS;
}
// The loss's own: 2 x, and what arrives.
MXReturnValue slope(Tensors* inputs, Tensors* outputs) {
  const float *head = inputs->at(0).data<float>(), *x = inputs->at(1).data<float>();
  for (int64_t i = 0; i < inputs->at(1).size(); ++i) outputs->at(0).data<float>()[i] = 2 * x[i] + head[i];
  return MX_SUCCESS;
}
MXReturnValue one(const Attributes&, int* inputs, int* outputs) { *inputs = *outputs = 1; return MX_SUCCESS; }
MXReturnValue same(const Attributes&, ShapeList* inputs, ShapeList* outputs) { outputs->at(0) = inputs->at(0); return MX_SUCCESS; }
MXReturnValue types(const Attributes&, std::vector<int>*, std::vector<int>* outputs) { outputs->at(0) = kFloat32; return MX_SUCCESS; }
MXReturnValue forward(const Attributes&, Tensors* i, Tensors* o, const OpResource&) { return square(i, o); }
MXReturnValue backward(const Attributes&, Tensors* i, Tensors* o, const OpResource&) { return slope(i, o); }
class State : public CustomStatefulOp {
 public:
  MXReturnValue Forward(Tensors* i, Tensors* o, const OpResource&) override { return square(i, o); }
  MXReturnValue Backward(Tensors* i, Tensors* o, const OpResource&) override { return slope(i, o); }
};
MXReturnValue state(const Attributes&, const MXContext&, const ShapeList&, const std::vector<int>, CustomStatefulOp** made) {
  *made = new State;
  return MX_SUCCESS;
}
REGISTER_OP(test_loss).setForward(forward, "cpu").setBackward(backward, "cpu").setParseAttrs(one).setInferShape(same).setInferType(types);
REGISTER_OP(test_loss_with_state).setParseAttrs(one).setInferShape(same).setInferType(types).setCreateOpState(state, "cpu");
"""


@pytest.fixture(scope="module")
def losses(tmp_path_factory):
    mx.library.load(compiled_text(tmp_path_factory.mktemp("losses"), "losses", HEADER + LOSS + INITIALIZE), verbose=False)


class BehindBlockGrad(gluon.HybridBlock):
    def __init__(self, op):
        super().__init__()
        self.op = op

    def hybrid_forward(self, F, x):
        return F.BlockGrad(getattr(F, self.op)(x)) * 3


@pytest.mark.parametrize("op", ["test_loss", "test_loss_with_state"])
@pytest.mark.parametrize("hybrid", [None, {}, {"static_alloc": True}])
def test_a_loss_of_an_extension_has_its_own_gradient_behind_block_grad(losses, op, hybrid):
    block = BehindBlockGrad(op)
    if hybrid is not None:
        block.hybridize(**hybrid)
    x = mx.nd.array([1, -2, 3], ctx=mx.cpu())
    x.attach_grad()
    for _ in range(2):
        with autograd.record():
            y = block(x)
        y.backward()
        np.testing.assert_array_equal(y.asnumpy(), [3, 12, 27])
        np.testing.assert_array_equal(x.grad.asnumpy(), [2, -4, 6])


@pytest.mark.parametrize("op", ["test_loss", "test_loss_with_state"])
def test_a_bound_loss_of_an_extension_has_its_own_gradient_behind_block_grad(losses, op):
    executor = BehindBlockGrad(op)(mx.sym.var("x")).simple_bind(mx.cpu(), x=(3,))
    executor.arg_dict["x"][:] = mx.nd.array([1, -2, 3])
    executor.forward(is_train=True)
    executor.backward(mx.nd.ones(3))
    np.testing.assert_array_equal(executor.grad_dict["x"].asnumpy(), [2, -4, 6])
