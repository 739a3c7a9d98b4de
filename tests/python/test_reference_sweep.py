# SPDX-License-Identifier: Apache-2.0
"""The tool that runs drawn cases beside the 1.9.1 release (tests/reference), without the release: our library on both sides."""
import pathlib
import re
import sys

import numpy as np
import pytest

import mxnet

TOOL = pathlib.Path(__file__).resolve().parent.parent / "reference"
sys.path.insert(0, str(TOOL))

import compare  # noqa: E402
import draw  # noqa: E402
import known  # noqa: E402
import run  # noqa: E402
import sweep  # noqa: E402

PAGES = TOOL.parent.parent / "docs" / "deviations"


@pytest.fixture(scope="module")
def asker():
    asker = run.Asker(sys.executable, mxnet.libinfo.find_lib_path()[0])
    yield asker
    asker.stop()


@pytest.mark.parametrize("source", draw.SOURCES)
def test_a_number_always_says_the_same_case_and_another_one_another(source):
    cases = [draw.case(source, 5, number) for number in (3, 3, 4)]
    assert cases[0].about == cases[1].about != cases[2].about
    first, second = ({"outputs": list(a.values()) if isinstance(a, dict) else a} for a in (c.job.get("arrays", []) for c in cases[:2]))
    assert compare.difference(first, second, "operator") is None


@pytest.mark.parametrize("source", draw.SOURCES)
def test_cases_of_each_source_run_and_are_the_same_twice(asker, source):
    worked = []
    for number in range(12):
        job = sweep.as_sent(draw.case(source, 9, number).job)
        answer = asker.ask(job)
        assert not compare.gone(answer)
        for mine, again in compare.apart(answer, asker.ask(job), job["kind"]):
            assert compare.difference(mine, again, job["kind"]) is None
            worked.append(not compare.failed(mine))
    assert sum(worked) >= len(worked) / 2


def program(start, *steps, **more):
    return dict(kind="program", start=start, steps=list(steps), arrays={}, numpy=True, alone=False, ways="", seed=1, **more)


def test_each_step_of_a_program_starts_anew_and_has_its_own_result_or_error(asker):
    answer = asker.ask(program("x = np.array([1., 2.])", ("changed", "x += 1; r = x"), ("wrong", "r = x.nothing"), ("kept", "r = [x, 3, 'text', x.asnumpy()]")))
    assert answer["changed"][0].tolist() == [2, 3]
    assert answer["wrong"].startswith("AttributeError")
    assert [a.tolist() for a in answer["kept"]] == [[1, 2], 3, list(b"text"), [1, 2]]
    other = dict(answer, kept=answer["changed"])
    told = [compare.difference(*pair, "program") for pair in compare.apart(other, answer, "program")]
    assert [bool(t) for t in told] == [False, False, True]


def test_sparse_results_are_checked_and_told_with_their_kind(asker):
    answer = asker.ask(program("", ("csr", "r = mx.nd.sparse.zeros('csr', (2, 3))"), ("wrong", "r = mx.nd.sparse.csr_matrix(([1., 2], [0, 0], [0, 2]), shape=(1, 2))")))
    assert bytes(answer["csr"][0]).startswith(b"csr") and answer["csr"][1].shape == (2, 3)
    assert isinstance(answer["wrong"], str)


def test_numpy_runs_the_same_lines_and_says_who_is_right(asker):
    job = program("x = array([1., 2.])", ("sum", "r = np.sum(x, axis=0, keepdims=True)"))
    truth, mine = asker.ask(dict(job, by_numpy=True)), asker.ask(job)
    assert truth["sum"][0].dtype == "float64" and mine["sum"][0].dtype == "float32"
    other = {"sum": [np.array([4], "float32")]}
    assert compare.sided(mine, other, truth).startswith("NumPy agrees with ours: ")
    assert compare.sided(other, mine, truth).startswith("NumPy agrees with theirs: ")
    assert compare.sided(mine, {"sum": "an error"}, truth).startswith("NumPy agrees with ours: ")


def test_numpy_is_no_witness_where_it_lacks_what_a_line_names(asker):
    """Else a gradient that only ours refuses would be as NumPy says."""
    job = program("x = array([1., 2.])", ("slopes", "x.attach_grad()\nwith mx.autograd.record():\n    w = x * x\nw.backward(); r = x.grad"), ("wrong", "r = np.reshape(x, 3)"))
    truth, mine = asker.ask(dict(job, by_numpy=True)), asker.ask(job)
    refused, worked = {"slopes": "MXNetError: no gradient"}, {"slopes": mine["slopes"]}
    assert not isinstance(mine["slopes"], str) and compare.sided(refused, worked, {"slopes": truth["slopes"]}) == ""
    assert compare.sided({"wrong": mine["wrong"]}, {"wrong": [np.ones(2)]}, {"wrong": truth["wrong"]}).startswith("NumPy agrees with ours: ")


def test_ways_to_one_result_say_who_contradicts_himself():
    right, wrong = [np.ones(2)], [np.zeros(2)]
    ours, theirs = ({"at once, slopes": right, "symbol, slopes": symbol} for symbol in (right, wrong))
    assert compare.one_way(ours, theirs, {"ways": "at once"}, "symbol, slopes") == "their at once, slopes, is what ours say"
    assert compare.one_way(theirs, ours, {"ways": "at once"}, "symbol, slopes") == "their at once, slopes, is what theirs say"


def test_lengths_that_are_the_same_stay_the_same():
    for number, (family, case) in enumerate(draw.golden_cases(re.compile("^batch_dot$"))["batch_dot"]):
        changed = draw.Changed(draw.calls.Draw(str(number)), family, case, ["shape"])
        pairs = {(a, b) for i, array in zip(case["inputs"], changed.arrays) for a, b in zip(i["s"], array.shape)}
        assert len(pairs) == len({before for before, _ in pairs})


def test_arrays_lose_their_dimensions_together():
    (family, case), *_ = draw.golden_cases(re.compile("^LayerNorm$"))["LayerNorm"]
    before = draw.Changed(draw.calls.Draw("1"), family, case, []).arrays
    after = draw.Changed(draw.calls.Draw("1"), family, case, ["scalars"]).arrays
    assert [a.shape for a in after] == [() if a.shape == before[0].shape else a.shape for a in before]


def test_each_output_is_put_over_each_input_like_it_by_the_seed_of_its_job(asker):
    """Of moments: the mean is like the array that has no dimension to lose; of dot both arrays are like the product."""
    first, second = np.array([[1.0, 2], [3, 4]], "float32"), np.array([[0.0, 1], [1, 0]], "float32")
    case = draw.operator_case(draw.calls.Draw("1"), "calls/1", "dot", {}, [first, second], False, False, [])
    for seed in (0, 1):
        answer = asker.ask(dict(case.job, request="inplace", seed=seed))
        np.testing.assert_array_equal(answer["outputs"][0], first @ second)
    point = np.array([5.0], "float32")
    job = dict(case.job, op="moments", arrays=[point], params={"axes": "(0,)", "keepdims": "True"}, request="inplace")
    for seed in (0, 1):
        assert [a.tolist() for a in asker.ask(dict(job, seed=seed))["outputs"]] == [[5], [0]]


def test_a_worker_that_ends_is_started_again(asker):
    job = draw.case("calls", 1, 0, re.compile("^softmax$")).job
    assert not compare.failed(asker.ask(job))
    asker.process.kill()
    assert compare.gone(asker.ask(job))
    assert not compare.failed(asker.ask(job))


def test_differences_of_numbers_types_shapes_and_errors_are_told():
    one = {"outputs": [np.ones(3, "float32")]}
    same = [one, {"outputs": [np.full(3, 1 + 1e-6, "float32")]}]
    assert compare.difference(*same, "operator") is None
    for other, text in [([np.full(3, 1.25, "float32")], r"1\.0, not 1\.25"), ([np.ones(3, "float64")], "float64"),
                        ([np.ones((3, 1), "float32")], r"\(3, 1\)"), ("MXNetError: no", "theirs MXNetError: no")]:
        assert re.search(text, compare.difference(one, {"outputs": other}, "operator"))
    assert compare.difference({"outputs": "one text"}, {"outputs": "another"}, "operator") is None
    assert compare.difference(one, {"outputs": "ends (-11)"}, "operator") is None
    assert compare.difference({"outputs": "ends (-11)"}, one, "operator")


def test_the_nearer_one_is_that_with_the_smaller_error():
    truth = {"outputs": [np.array([1.0, 2.0])]}
    near, far = ({"outputs": [np.array([1.0, 2.0 + off], "float32")]} for off in (1e-6, 1e-3))
    assert "nearer to float64: ours" in compare.nearer(near, far, [truth, truth], "operator")
    assert "nearer to float64: theirs" in compare.nearer(far, near, [truth, truth], "operator")
    assert "each says itself" in compare.nearer(near, far, [near, far], "operator")
    assert compare.nearer(near, far, [{"outputs": "no"}], "operator") == "no float64 to judge by"


def test_what_is_known_names_a_page():
    for _, _, page in known.KNOWN:
        assert (PAGES / f"{page}.md").exists()
    assert known.reason("clip", "gradients 0: 0.5, not 0.0 \nclip/0 value add {'a_min': 0} float32[3]") == "calls"
    assert known.reason("clip", "outputs 0: 0.5, not 0.0 \nclip/0 value write {'a_min': 0} float32[3]") is None


@pytest.mark.parametrize("op", ["RNN", "prod", "norm", "gammaln", "_npi_power", "_npi_var", "_npi_svd", "Pooling_v1", "Convolution_v1", "_contrib_hawkesll"])
def test_a_wrong_result_is_not_taken_for_a_gradient_that_is_known(op):
    array = np.ones(3, "float32")
    case = draw.operator_case(draw.calls.Draw("1"), "calls/1", op, {}, [array], False, True, [0])
    wrong = compare.difference({"outputs": [array]}, {"outputs": [2 * array]}, "operator")
    assert known.reason(op, f"{wrong}\n{case.about}") is None
