# SPDX-License-Identifier: Apache-2.0
"""Operators that move elements, and those of matrices."""
from registry_rows import Row, Sizes


class Arrays(Sizes):
    def shapes(self):
        n, m = self.size((512, 1024), (8, 8))
        picture = self.size((8, 64, 28, 28), (2, 4, 4, 4))
        for dtype in ("float32", "float16", "float64", "uint8", "int64"):
            yield Row("transpose", [self.of(n, m, dtype=dtype)])
            yield Row("transpose", [self.of(*picture, dtype=dtype)], {"axes": (0, 2, 3, 1)})
            yield Row("transpose", [self.of(*picture, dtype=dtype)], {"axes": (0, 2, 1, 3)})
            yield Row("SwapAxis", [self.of(*self.size((32, 64, 256), (2, 4, 8)), dtype=dtype)], {"dim1": 0, "dim2": 1})
            yield Row("repeat", [self.of(self.size(256, 8), m, dtype=dtype)], {"repeats": 2, "axis": 0})
            yield Row("repeat", [self.of(self.size(256, 8), m, dtype=dtype)], {"repeats": 2, "axis": 1})
            yield Row("tile", [self.of(self.size(128, 8), self.size(512, 8), dtype=dtype)], {"reps": (2, 4)})
            for axis in (0, 1, (0, 1)):
                yield Row("reverse", [self.of(n, m, dtype=dtype)], {"axis": axis})
        yield Row("transpose", [self.of(*picture)], {"axes": (3, 2, 1, 0)})
        yield Row("transpose", [self.of(*picture)], {"axes": (1, 0, 2, 3)})
        yield Row("repeat", [self.plane()], {"repeats": 3})
        for op, attrs in (("Reshape", {"shape": "(-1,)"}), ("Flatten", {}), ("expand_dims", {"axis": 1})):
            yield Row(op, [self.plane()], attrs)
        yield Row("squeeze", [self.of(n, 1, m)])
        yield Row("reshape_like", [self.plane(), self.of(m, n)])
        for mode in ("constant", "edge", "reflect"):
            for dtype in ("float32", "float64", "float16"):
                yield Row("Pad", [self.of(*picture, dtype=dtype)], {"mode": mode, "pad_width": (0, 0, 0, 0, 1, 1, 2, 2)})
        yield Row("Pad", [self.of(*self.size((4, 16, 8, 28, 28), (1, 2, 3, 4, 4)))], {"mode": "constant", "pad_width": (0, 0, 0, 0, 1, 1, 1, 1, 1, 1)})
        for dtype in ("float32", "float16", "float64", "int32"):
            yield Row("depth_to_space", [self.of(*picture, dtype=dtype)], {"block_size": 2})
            yield Row("space_to_depth", [self.of(*picture, dtype=dtype)], {"block_size": 2})
        yield Row("diag", [self.plane()], {"k": 1})
        yield Row("diag", [self.of(self.size(700, 8))])
        yield Row("diag", [self.of(*self.size((64, 64, 64), (4, 4, 4)))], {"axis1": 0, "axis2": 2})
        yield Row("shape_array", [self.plane()])
        yield Row("size_array", [self.plane()])
        square = {"kernel": (3, 3), "stride": (1, 1), "dilate": (1, 1), "pad": (1, 1)}
        yield Row("im2col", [self.of(*self.size((4, 16, 28, 28), (1, 2, 8, 8)))], square)
        yield Row("col2im", [self.of(*self.size((4, 144, 784), (1, 18, 64)))], square | {"output_size": self.size((28, 28), (8, 8))})

    def numpy_shapes(self):
        n, m = self.size((512, 1024), (8, 8))
        for op in "_np_atleast_1d _np_atleast_2d _np_atleast_3d".split():
            yield Row(op, [self.plane(), self.of(n)], {"num_args": 2}, numpy=True)
        yield Row("_np_diag", [self.plane()], {"k": 0}, numpy=True)
        yield Row("_np_diag", [self.of(self.size(700, 8))], {"k": 0}, numpy=True)
        yield Row("_np_diagflat", [self.of(self.size(700, 8))], {"k": 0}, numpy=True)
        yield Row("_np_diagonal", [self.of(*self.size((64, 64, 64), (4, 4, 4)))], {"offset": 0, "axis1": 0, "axis2": 2}, numpy=True)
        yield Row("_np_trace", [self.of(*self.size((64, 64, 64), (4, 4, 4)))], {"offset": 0, "axis1": 1, "axis2": 2}, numpy=True)
        yield Row("_np_trace", [self.plane()], {}, numpy=True)
        for dtype in ("float32", "int32", "float64"):
            yield Row("_npi_tril", [self.plane(dtype)], {"k": 0}, numpy=True)
            yield Row("_np_roll", [self.plane(dtype)], {"shift": 17, "axis": 1}, numpy=True)
            yield Row("_np_roll", [self.plane(dtype)], {"shift": 17, "axis": 0}, numpy=True)
            yield Row("_np_roll", [self.plane(dtype)], {"shift": 17}, numpy=True)
            yield Row("_npi_flip", [self.plane(dtype)], {"axis": 1}, numpy=True)
            yield Row("_npi_flip", [self.plane(dtype)], {"axis": 0}, numpy=True)
            yield Row("_npi_rot90", [self.plane(dtype)], {"k": 1, "axes": (0, 1)}, numpy=True)
            yield Row("_npi_rot90", [self.plane(dtype)], {"k": 2, "axes": (0, 1)}, numpy=True)
        yield Row("_np_moveaxis", [self.of(*self.size((64, 64, 128), (4, 4, 8)))], {"source": (0,), "destination": (2,)}, numpy=True)
        yield Row("_np_reshape", [self.plane()], {"newshape": "(-1,)"}, numpy=True)
        yield Row("_npx_reshape", [self.plane()], {"newshape": "(-2, 2, -1)"}, numpy=True)
        yield Row("_np_squeeze", [self.of(n, 1, m)], {}, numpy=True)
        yield Row("_np_transpose", [self.plane()], {}, numpy=True)
        yield Row("_np_transpose", [self.of(*self.size((8, 64, 28, 28), (2, 4, 4, 4)))], {"axes": (0, 3, 1, 2)}, numpy=True)
        for op in "_npi_column_stack _npi_dstack _npi_hstack _npi_vstack".split():
            yield Row(op, [self.of(self.size(256, 8), m) for _ in range(2)], {"num_args": 2}, numpy=True)
            yield Row(op, [self.of(self.size(200000, 8)) for _ in range(2)], {"num_args": 2}, numpy=True)
        for op, axis in (("_npi_dsplit", 2), ("_npi_hsplit", 1), ("_split_v2", 0), ("_split_v2", 1)):
            yield Row(op, [self.of(*self.size((64, 64, 128), (4, 4, 4)))], {"indices": "(0,1,3)", "axis": axis, "sections": 0}, numpy=True)
            yield Row(op, [self.of(*self.size((64, 64, 128), (4, 4, 4)))], {"indices": "()", "axis": axis, "sections": 2}, numpy=True)
        for mode in ("constant", "edge", "reflect", "symmetric", "maximum", "minimum"):
            for dtype in ("float32", "int32"):
                yield Row("_npi_pad", [self.plane(dtype)], {"mode": mode, "pad_width": "((1,2),(3,4))"}, numpy=True)
        for axis in (0, 1, 2):
            yield Row("_npi_stack", [self.of(self.size(256, 8), self.size(512, 8)) for _ in range(3)], {"num_args": 3, "axis": axis}, numpy=True)

    def joining(self):
        for dtype in ("float32", "float16", "float64", "int32", "uint8"):
            for axis in (0, 1):
                yield Row("Concat", [self.of(self.size(256, 8), self.size(512, 8), dtype=dtype) for _ in range(3)], {"num_args": 3, "dim": axis})
            yield Row("stack", [self.of(self.size(256, 8), self.size(512, 8), dtype=dtype) for _ in range(3)], {"num_args": 3, "axis": 0})
            yield Row("SliceChannel", [self.of(*self.size((256, 1024), (8, 8)), dtype=dtype)], {"num_outputs": 4, "axis": 1})
        yield Row("Concat", [self.of(*self.size((8, 32, 28, 28), (1, 2, 4, 4))) for _ in range(2)], {"num_args": 2, "dim": 1})
        yield Row("Concat", [self.of(self.size(100000, 8), 2) for _ in range(2)], {"num_args": 2, "dim": 1})
        yield Row("stack", [self.of(self.size(256, 8), self.size(512, 8)) for _ in range(3)], {"num_args": 3, "axis": 2})
        yield Row("stack", [self.of(self.size(256, 8), self.size(512, 8)) for _ in range(3)], {"num_args": 3, "axis": 1})
        yield Row("_npi_concatenate", [self.of(self.size(256, 8), self.size(512, 8)) for _ in range(2)], {"num_args": 2, "axis": 1}, numpy=True)
        yield Row("_rnn_param_concat", [self.of(self.size(100000, 8)) for _ in range(3)], {"num_args": 3, "dim": 0})
        yield Row("SliceChannel", [self.of(*self.size((8, 64, 28, 28), (2, 4, 4, 4)))], {"num_outputs": 2, "axis": 1})
        yield Row("SliceChannel", [self.of(*self.size((100000, 4), (8, 4)))], {"num_outputs": 4, "axis": 1, "squeeze_axis": True})

    def indexing(self):
        n, m = self.size((512, 1024), (8, 8))
        count = self.size(4096, 8)
        for dtype in ("float32", "float16", "float64", "int32", "uint8"):
            for kind in ("int32", "float32", "int64"):
                yield Row("take", [self.of(self.size(2000, 8), 64, dtype=dtype), self.of(count, dtype=kind, low=0, high=self.size(2000, 8))], {"axis": 0})
            yield Row("take", [self.plane(dtype), self.of(self.size(300, 8), dtype="int32", low=0, high=m)], {"axis": 1})
            yield Row("take", [self.of(self.size(50000, 8), dtype=dtype), self.of(self.size(200000, 8), dtype="int32", low=0, high=self.size(50000, 8))], {"mode": "wrap"})
        for kind in ("int32", "float32", "int64"):
            yield Row("Embedding", [self.of(self.size(64, 4), self.size(64, 4), dtype=kind, low=0, high=self.size(2000, 8)), self.of(self.size(2000, 8), 128)],
                      {"input_dim": self.size(2000, 8), "output_dim": 128}, gradients=[1])
            yield Row("pick", [self.plane(), self.of(n, dtype=kind, low=0, high=m)], {"axis": 1})
            yield Row("one_hot", [self.of(self.size(1024, 8), dtype=kind, low=0, high=self.size(500, 8))], {"depth": self.size(500, 8)})
            yield Row("batch_take", [self.plane(), self.of(n, dtype=kind, low=0, high=m)])
        yield Row("pick", [self.of(*self.size((8, 64, 28, 28), (2, 4, 4, 4))), self.of(*self.size((8, 28, 28), (2, 4, 4)), dtype="int32", low=0, high=4)], {"axis": 1})
        yield Row("one_hot", [self.of(self.size(1024, 8), dtype="int32", low=0, high=8)], {"depth": self.size(500, 8), "dtype": "uint8"})
        for width in (1, 32):
            yield Row("gather_nd", [self.of(n, self.size(256, 8), width), self.of(2, self.size(20000, 8), dtype="int32", low=0, high=self.size(256, 8))])
            yield Row("scatter_nd", [self.of(self.size(20000, 8), width), self.of(2, self.size(20000, 8), dtype="int32", low=0, high=self.size(256, 8))],
                      {"shape": (n, self.size(256, 8), width)})
        yield Row("_scatter_set_nd", [self.plane(), self.of(self.size(20000, 8)), self.of(2, self.size(20000, 8), dtype="int32", low=0, high=self.size(512, 8))],
                  {"shape": (n, m)}, out=(0,), gradients=False)
        cuts = [("(1, 2)", f"({n - 1}, {m - 2})", "()"), ("(None, None)", "(None, None)", "(2, 3)"), ("(None, None)", "(None, None)", "(-1, -1)"),
                ("(None, None)", "(None, None)", "(1, -2)")]
        for dtype in ("float32", "float16", "float64", "uint8"):
            for begin, end, step in cuts:
                attrs = {"begin": begin, "end": end} | ({"step": step} if step != "()" else {})
                yield Row("slice", [self.plane(dtype)], attrs)
                yield Row("_slice_assign_scalar", [self.plane(dtype)], attrs | {"scalar": 1.5})
            yield Row("slice_axis", [self.plane(dtype)], {"axis": 1, "begin": 1, "end": m - 1})
            yield Row("slice_axis", [self.plane(dtype)], {"axis": 0, "begin": 1, "end": n - 1})
        yield Row("_slice_assign", [self.plane(), self.of(n - 2, m - 4)], {"begin": "(1, 2)", "end": f"({n - 1}, {m - 2})"})
        yield Row("_slice_assign", [self.plane(), self.of(n // 2, m // 2)], {"begin": "(None, None)", "end": "(None, None)", "step": "(2, 2)"})
        yield Row("slice_like", [self.plane(), self.of(n - 2, m - 2)])
        steps, batch, width = self.size((64, 32, 256), (4, 2, 4))
        length = self.of(batch, low=1, high=steps)
        for axis in (0, 1):
            data = self.of(*((steps, batch, width) if axis == 0 else (batch, steps, width)))
            yield Row("SequenceLast", [data, length], {"use_sequence_length": True, "axis": axis}, gradients=[0])
            yield Row("SequenceMask", [data, length], {"use_sequence_length": True, "axis": axis}, gradients=[0])
        yield Row("SequenceReverse", [self.of(steps, batch, width), length], {"use_sequence_length": True}, gradients=[0])
        yield Row("SequenceReverse", [self.of(steps, batch, width)])
        yield Row("_contrib_boolean_mask", [self.plane(), self.of(n, dtype="int32", low=0, high=2)], {"axis": 0}, gradients=[0])
        yield Row("_contrib_boolean_mask", [self.of(self.size(200000, 8)), self.of(self.size(200000, 8), low=0, high=2, dtype="uint8")], {"axis": 0}, gradients=[0])
        yield Row("_contrib_index_array", [self.of(*self.size((256, 512), (8, 8)))])
        yield Row("_contrib_index_array", [self.of(*self.size((256, 512), (8, 8)))], {"axes": (1,)})
        yield Row("_contrib_index_copy", [self.of(self.size(2000, 20), 128), self.of(8, dtype="int32", high=self.size(2000, 20), kind="distinct"), self.of(8, 128)], gradients=[0, 2])
        yield Row("_onehot_encode", [self.of(n, low=0, high=m), self.plane()], out=(1,), gradients=False, outputs_only=())
        yield Row("_ravel_multi_index", [self.of(2, self.size(100000, 8), dtype="int64", low=0, high=8)], {"shape": (512, 1024)})
        yield Row("_unravel_index", [self.of(self.size(100000, 8), dtype="int64", low=0, high=500000)], {"shape": (512, 1024)})
        yield Row("_ravel_multi_index", [self.of(2, self.size(100000, 8), low=0, high=8)], {"shape": (512, 1024)}, gradients=False)
        yield Row("_unravel_index", [self.of(self.size(100000, 8), low=0, high=500000)], {"shape": (512, 1024)}, gradients=False)
        yield Row("fill_element_0index", [self.plane(), self.of(n), self.of(n, low=0, high=m)], gradients=False)
        yield Row("Crop", [self.of(*self.size((8, 64, 28, 28), (2, 3, 7, 8)))], {"num_args": 1, "h_w": self.size((24, 24), (4, 4)), "center_crop": True})

    def numpy_indexing(self):
        n, m = self.size((512, 1024), (8, 8))
        long = self.size(1 << 18, 64)
        yield Row("_npi_boolean_mask_assign_scalar", [self.plane(), self.plane("bool")], {"value": 2, "start_axis": 0}, numpy=True, out=(0,), gradients=False)
        yield Row("_npi_boolean_mask_assign_tensor", [self.plane(), self.of(n, dtype="bool"), self.of(m)], {"start_axis": 0}, numpy=True, out=(0,), gradients=False)
        yield Row("_npi_delete", [self.plane()], {"start": 1, "stop": n // 2, "step": 2, "axis": 0}, numpy=True)
        yield Row("_npi_delete", [self.plane()], {"start": 1, "stop": m // 2, "step": 2, "axis": 1}, numpy=True)
        yield Row("_npi_delete", [self.plane()], {"int_ind": 3, "axis": 1}, numpy=True)
        yield Row("_npi_delete", [self.plane(), self.of(6, dtype="int64", low=0, high=8)], {"axis": 1}, numpy=True)
        yield Row("_npi_insert_scalar", [self.of(long), self.of(1)], {"int_ind": 2, "axis": 0}, numpy=True)
        yield Row("_npi_insert_scalar", [self.plane(), self.of(m)], {"int_ind": 2, "axis": 0}, numpy=True)
        yield Row("_npi_insert_slice", [self.plane(), self.of(2, m)], {"start": 0, "stop": 4, "step": 2, "axis": 0}, numpy=True)
        yield Row("_npi_insert_tensor", [self.plane(), self.of(2, m), self.of(2, dtype="int64", low=0, high=8)], {"axis": 0}, numpy=True)
        for dtype in ("float32", "int32", "float64", "int64"):
            yield Row("_npi_unique", [self.of(long, dtype=dtype, low=0, high=5000)], {}, numpy=True)
            yield Row("_npx_nonzero", [self.plane(dtype, 0, 2)], numpy=True)
        yield Row("_npi_unique", [self.of(long, dtype="int32", low=0, high=5000)], {"return_index": True, "return_inverse": True, "return_counts": True}, numpy=True)
        yield Row("_npi_unique", [self.of(self.size(4096, 8), 16, dtype="int32", low=0, high=3)], {"axis": 0}, numpy=True)
        yield Row("_npx_nonzero", [self.plane("bool")], numpy=True)
        yield Row("_npi_diag_indices_from", [self.of(m, m)], numpy=True)
        yield Row("_npi_share_memory", [self.plane(), self.plane()], numpy=True)

    def ordering(self):
        n, m = self.size((512, 1024), (8, 8))
        long = self.size(1 << 18, 64)
        for dtype in ("float32", "float16", "float64", "int32", "int64", "uint8"):
            for axis in (0, 1):
                for up in (True, False):
                    yield Row("sort", [self.plane(dtype, 0, 100)], {"is_ascend": up, "axis": axis})
                    yield Row("argsort", [self.plane(dtype, 0, 100)], {"is_ascend": up, "axis": axis})
                yield Row("topk", [self.plane(dtype, 0, 100)], {"k": 5, "axis": axis, "ret_typ": "value"})
            yield Row("sort", [self.of(long, dtype=dtype)])
            yield Row("argsort", [self.of(long, dtype=dtype)])
        for k in (1, 5, self.size(100, 7), 0):
            for kind in ("value", "indices", "mask", "both"):
                yield Row("topk", [self.plane()], {"k": k, "axis": 1, "ret_typ": kind})

    def matrices(self):
        n = self.size(192, 8)
        for dtype in ("float32", "float64", "float16"):
            for left in (False, True):
                for right in (False, True):
                    yield Row("dot", [self.of(n, n, dtype=dtype), self.of(n, n, dtype=dtype)], {"transpose_a": left, "transpose_b": right})
                    yield Row("batch_dot", [self.of(8, n // 4 * 2, n // 2, dtype=dtype), self.of(8, n // 4 * 2, n // 2, dtype=dtype)],
                              {"transpose_a": left, "transpose_b": right})
        long = self.size(1 << 18, 64)
        m = self.size(512, 8)
        for dtype in ("float32", "float64", "float16"):
            yield Row("dot", [self.of(long, dtype=dtype), self.of(long, dtype=dtype)])
            yield Row("dot", [self.of(m, m, dtype=dtype), self.of(m, dtype=dtype)])
            yield Row("dot", [self.of(m, dtype=dtype), self.of(m, m, dtype=dtype)])
            yield Row("FullyConnected", [self.of(32, m, dtype=dtype), self.of(128, m, dtype=dtype), self.of(128, dtype=dtype)], {"num_hidden": 128})
        yield Row("FullyConnected", [self.of(1, m), self.of(1000, m), self.of(1000)], {"num_hidden": 1000})
        yield Row("FullyConnected", [self.of(8, 16, m), self.of(64, m)], {"num_hidden": 64, "no_bias": True, "flatten": False})
        yield Row("batch_dot", [self.of(self.size(64, 2), 32, 64), self.of(self.size(64, 2), 64, 32)])
        yield Row("batch_dot", [self.of(self.size(2000, 2), 4, 4), self.of(self.size(2000, 2), 4, 4)])
        yield Row("batch_dot", [self.of(self.size(64, 2), 1, 64), self.of(self.size(64, 2), 64, 100)])
        for dtype in ("float32", "float64"):
            yield Row("_linalg_gemm", [self.of(n, n, dtype=dtype) for _ in range(3)], {"alpha": 1.5, "beta": 0.5})
            yield Row("_linalg_gemm2", [self.of(4, n // 2, n // 2, dtype=dtype) for _ in range(2)], {"transpose_b": True})
            yield Row("_linalg_syrk", [self.of(n, n, dtype=dtype)], {"transpose": False})
            for right in (False, True):
                for op in ("_linalg_trmm", "_linalg_trsm"):
                    yield Row(op, [self.of(n, n, dtype=dtype, kind="triangular"), self.of(n, n, dtype=dtype)], {"rightside": right})
        yield Row("khatri_rao", [self.of(self.size(64, 4), 32), self.of(self.size(64, 4), 32)], {"num_args": 2})
        yield Row("_np_dot", [self.of(n, n), self.of(n, n)], numpy=True)
        yield Row("_np_dot", [self.of(4, n, n), self.of(n)], numpy=True)
        yield Row("_np_dot", [self.of(4, n, n), self.of(n, n)], numpy=True)
        yield Row("_npi_matmul", [self.of(4, n, n), self.of(4, n, n)], numpy=True)
        yield Row("_npi_matmul", [self.of(4, 1, 16, 16), self.of(8, 16, 16)], numpy=True)
        yield Row("_npi_matmul", [self.of(n, n), self.of(n)], numpy=True)
        yield Row("_npi_tensordot_int_axes", [self.of(n, n), self.of(n, n)], {"axes": 1}, numpy=True)
        yield Row("_npi_tensordot_int_axes", [self.of(n), self.of(n)], {"axes": 0}, numpy=True)
        yield Row("_npi_tensordot", [self.of(16, n, 8), self.of(8, 16, n)], {"a_axes_summed": "(0,2)", "b_axes_summed": "(1,0)"}, numpy=True)
        for text, shapes in (("ij,jk->ik", [(n, n), (n, n)]), ("bij,bjk->bik", [(4, n, n), (4, n, n)]), ("ij->ji", [(n, n)]), ("ii->i", [(n, n)]),
                             ("ij->i", [(n, n)]), ("i,i->", [(n,), (n,)]), ("i,j->ij", [(n,), (n,)]), ("ij,ij->ij", [(n, n), (n, n)]),
                             ("bhqd,bhkd->bhqk", [(2, 4, 32, 16), (2, 4, 32, 16)]), ("ij,jk,kl->il", [(16, 16), (16, 16), (16, 16)])):
            for optimize in (0, 1):
                yield Row("_npi_einsum", [self.of(*s) for s in shapes], {"num_args": len(shapes), "subscripts": text, "optimize": optimize}, numpy=True)
        length, batch, heads, width = self.size((64, 8, 8, 32), (4, 2, 2, 4))
        inner = heads * width
        yield Row("_contrib_interleaved_matmul_selfatt_qk", [self.of(length, batch, 3 * inner)], {"heads": heads})
        yield Row("_contrib_interleaved_matmul_selfatt_valatt", [self.of(length, batch, 3 * inner), self.of(batch * heads, length, length)], {"heads": heads})
        yield Row("_contrib_interleaved_matmul_encdec_qk", [self.of(length, batch, inner), self.of(length, batch, 2 * inner)], {"heads": heads})
        yield Row("_contrib_interleaved_matmul_encdec_valatt", [self.of(length, batch, 2 * inner), self.of(batch * heads, length, length)], {"heads": heads})

    def decompositions(self):
        for count, n in (self.size((1, 96), (1, 8)), self.size((64, 8), (2, 4))):
            for dtype in ("float32", "float64"):
                symmetric = self.of(count, n, n, dtype=dtype, kind="symmetric")
                for op in "_linalg_potrf _linalg_potri _linalg_sumlogdiag _linalg_inverse _linalg_det _linalg_slogdet _linalg_syevd _linalg_gelqf".split():
                    yield Row(op, [self.of(count, n, n, dtype=dtype, kind="triangular") if op == "_linalg_potri" else symmetric])
                for op in "_linalg_extractdiag _linalg_extracttrian".split():
                    yield Row(op, [symmetric])
                yield Row("_linalg_makediag", [self.of(count, n, dtype=dtype)])
                yield Row("_linalg_maketrian", [self.of(count, n * (n + 1) // 2, dtype=dtype)])
                for op in "_npi_cholesky _npi_eigvalsh _npi_eigh _npi_svd _linalg_det _linalg_slogdet _linalg_inverse".split():
                    yield Row(op, [symmetric], numpy=True, gradients=op in ("_npi_cholesky", "_npi_svd", "_linalg_det", "_linalg_inverse"))
                yield Row("_npi_solve", [symmetric, self.of(count, n, 4, dtype=dtype)], numpy=True)
                for op in "_npi_eigvals _npi_eig".split():
                    yield Row(op, [symmetric], numpy=True, gradients=False)
                yield Row("_npi_pinv_scalar_rcond", [symmetric], {"rcond": 1e-6, "hermitian": False}, numpy=True, gradients=False)
                yield Row("_npi_pinv", [symmetric, self.of(count, dtype=dtype, low=1e-6, high=1e-5)], {"hermitian": False}, numpy=True, gradients=False)
        yield Row("_npi_tensorinv", [self.of(*self.size((8, 8, 64), (2, 3, 6)))], {"ind": 2}, numpy=True)
        yield Row("_npi_tensorsolve", [self.of(*self.size((8, 8, 64), (2, 3, 6))), self.of(*self.size((8, 8), (2, 3)))], numpy=True)
