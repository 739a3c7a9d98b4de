# SPDX-License-Identifier: Apache-2.0
"""Rounding to decimals: ties go to the even neighbour, as in NumPy; integers are cut to whole digits."""
import numpy as np
import pytest


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("decimals", [-1, 0, 1])
def test_ties_go_to_the_even_neighbour(mx, dtype, decimals):
    x = np.array([-25, -2.5, -1.5, -0.5, 0.5, 1.5, 2.5, 1.25, 1.75, 15, 25, 35], dtype)
    np.testing.assert_array_equal(mx.run("_npi_around", x, decimals=decimals)[0], np.around(x, decimals))


def test_every_half_goes_to_the_nearest_whole_number(mx):
    """Of any place in a vector, and of a part of one."""
    halves = np.arange(1 << 16, dtype="uint16").view("float16")
    for x in (halves, halves[3:-2], halves[:5]):
        got, = mx.run("_npi_around", x)
        with np.errstate(invalid="ignore"):  # NaN
            np.testing.assert_array_equal(got, np.around(x.astype("float32")).astype("float16"))
        negative = np.signbit(x) & ~np.isnan(x)
        assert np.signbit(got)[negative].all()


def test_every_bfloat16_goes_to_the_nearest_whole_number(mx):
    x = (np.arange(1 << 16, dtype="uint32") << 16).view("float32")
    x = x[~np.isnan(x)]
    np.testing.assert_array_equal(mx.run_in_bfloat16("_npi_around", x), np.around(x))


def test_integers_are_cut(mx):
    x = np.array([15, 25, -25, 7], "int32")
    np.testing.assert_array_equal(mx.run("_npi_around", x, decimals=-1)[0], [10, 20, -20, 0])
    np.testing.assert_array_equal(mx.run("_npi_around", x, decimals=2)[0], x)


def test_densities_with_one_sample_for_each_set_of_concentrations(mx):
    """The 1.9.1 release's number."""
    sample, alpha = np.array([[0.2, 0.3, 0.5]], "float32"), np.array([[1, 2, 3]], "float32")
    np.testing.assert_allclose(mx.run("_random_pdf_dirichlet", sample, alpha)[0], [4.5], rtol=1e-5)
