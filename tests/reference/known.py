# SPDX-License-Identifier: Apache-2.0
"""Differences that are meant: which operators, what was found, and the page of docs/deviations that says why.

A row that takes too much hides faults: it names the request, the change or the text, not just the operator, wherever not all that the
operator gives is known to differ.
"""
import re

ADD, SPECIAL, ALWAYS = r"gradients.*\sadd \{", r"\S*\bspecial\b\S* \w+ \{", ""
# More repetitions than dimensions.
MORE_REPS = "|".join(rf"'reps': '\((\d+, ?){{{n},}}\d+,?\)'\}} \w+\[(\d+, ){{{n - 1}}}\d+\]" for n in range(1, 5))
# Operators; what is in the line that tells the difference, or in the case; the page. The first that fits counts.
KNOWN = [
    # Ways of calling.
    (".*", r"ours MXNetError: .*\| theirs \['\w+\((.*, )?0\b", "calls"),
    (".*", r"nearer to float64: ours.* float16\[", "calls"),
    ("clip|_npi_where|_linalg_(gemm2?|trmm|trsm|gelqf|syevd|inverse)|_np_dot|amp_cast|_npi_tensorinv", ADD, "calls"),
    ("reverse|_npi_rot90|_np_roll|SwapAxis|SequenceReverse|_npi_diff|_npi_einsum|_npi_matmul|_npi_tensordot.*|batch_dot|scatter_nd|one_hot|"
     "slice|concat|stack|take|gather_nd|dot|_linalg_.*|broadcast_.*|reshape_like", r"\sinplace \{", "calls"),
    # Families.
    ("(broadcast|_npi)_power|_?(npi_)?r?power_scalar|_rdiv_scalar|smooth_l1|broadcast_mod", r"\bu?int(8|32|64)\[|bool\[", "elemwise"),
    ("arcsinh|arccosh|_npi_arccosh", "second gradients", "elemwise"),
    ("gammaln|gamma", "gradients", "elemwise"),
    ("radians|degrees", r"int(32|64)\[", "calls"),
    ("_npi_copysign|broadcast_mod|_npi_power", SPECIAL + "|nan", "elemwise"),
    ("_linalg_(slogdet|det)|_linalg_extracttrian", r"\bzero\b", "matrix"),
    ("_npi_(less|greater).*_scalar", r"uint8\[", "calls"),
    ("(_npi_)?(floor|ceil|rint|round|trunc|fix|abs|square)", r"int(32|64)\[", "calls"),
    ("relu", r"gradients.*, not nan", "elemwise"),
    ("_div_scalar", r", not 0\.0 .*'scalar': \d{5,}.*float16\[", "calls"),
    ("log_softmax", r"outputs 0: 0\.0, not", "norm"),
    ("sum|mean|_npi_mean|nansum|_np_sum|norm", "inf, not nan", "reduce"),
    ("mean|moments|_npi_mean|_npi_norm|_np_cumsum|_npi_diff|_npi_ediff1d", ADD, "reduce"),
    ("_npi_(mean|average|var|std)|moments|mean|_npi_norm|norm", r"u?int8|int32|int64", "reduce"),
    ("_npi_(var|std)", "gradients|nan", "reduce"),
    ("prod|_np_prod|nanprod|norm|_npi_norm", "gradients", "reduce"),
    ("sort|argsort|topk", SPECIAL, "reduce"),
    ("reverse|_npi_flip|_np_moveaxis|_np_trace|_split_v2|_npi_[hd]split", ADD, "shape"),
    ("_npi_[hd]split", r"'axis'", "shape"),
    ("transpose", r"given axis \d twice", "shape"),
    ("_npi_identity", "expected a square", "shape"),
    ("tile", MORE_REPS, "shape"),
    ("Reshape", "expected as many elements", "shape"),
    ("reverse|_npi_flip|_np_roll", r"\sinplace \{", "calls"),
    ("_npi_rot90", "gradients", "shape"),
    ("InstanceNorm|LRN", r"theirs MXNetError.* float(16|64)\[", "norm"),
    ("reverse|_npi_flip", r"'axis': '\((.*, )?(\d)(, .*)?, \2[,)]", "shape"),
    ("_npi_pad", "reflect_type|-", "shape"),
    ("Crop|_contrib_boolean_mask", ADD, "index"),
    ("scatter_nd|fill_element_0index", "given index", "index"),
    ("_np_dot|_npi_matmul|_npi_tensordot.*", ADD + r"|only", "matrix"),
    ("_npi_pinv.*|_npi_svd|_linalg_syevd|_npi_eig.*", SPECIAL + "|gradients", "matrix"),
    ("_npi_pinv.*", "expected equal last dimensions", "matrix"),
    ("_linalg_trsm", "'alpha': 0", "matrix"),
    ("BatchNorm|_contrib_BatchNormWithReLU", r"given '\w+' of shape \(\d+,\) .*expected shape", "norm"),
    ("SoftmaxOutput|SVMOutput|BatchNorm(_v1)?|.*RegressionOutput", ADD, "norm"),
    (".*RegressionOutput|softmax_cross_entropy|SoftmaxOutput", "gradients 1", "norm"),
    ("Activation", SPECIAL + r".*'relu'", "norm"),
    ("softmax|log_softmax|softmin|SoftmaxActivation", SPECIAL, "norm"),
    ("SoftmaxActivation", r"gradients.*'instance'\} \w+\[\d+, \d+, ", "layers"),
    ("softmax|softmin|log_softmax", "'dtype': 'float32'.* float16|temperature", "norm"),
    ("softmax_cross_entropy", SPECIAL + "|expected", "norm"),
    ("CTCLoss", r"ours MXNetError: \[CTCLoss\] given|nearer to float64: ours", "norm"),
    ("LeakyReLU", "selu|prelu|rrelu|gelu", "norm"),
    ("_contrib_SyncBatchNorm", r"outputs [12]|special|gradients.*'use_global_stats': 'False'", "norm"),
    ("LayerNorm", r"outputs 1: 0\.0, not nan", "norm"),
    ("Pooling_v1", r"gradients|not -inf.*'full'|" + SPECIAL, "layers"),
    ("Pooling", "full|'lp'|special", "layers"),
    ("Deconvolution", "target_shape|dilate", "layers"),
    ("Convolution_v1", "dilate.*gradients|gradients", "layers"),
    ("Sequence(Last|Mask|Reverse)", "given length", "index"),
    ("rmsprop(alex)?_update", "clip_weights|" + SPECIAL, "optim"),
    ("_contrib_box_nms|_contrib_index_copy|Crop", r" inplace \{|ours and theirs off by 0\.0e\+00", "calls"),
    ("(mp|multi|preloaded|_multi|_mp).*_update.*|_adamw_update|lamb.*|nag.*", SPECIAL + r"|float16", "optim"),
    ("_contrib_hawkesll", "gradients|expected", "rnn_spatial_detection"),
    ("_contrib_interleaved_matmul_.*", "gradients|ours MXNetError", "rnn_spatial_detection"),
    ("_contrib_box_(iou|nms)|BilinearSampler|_contrib_.*Proposal|_contrib_box_decode", SPECIAL, "rnn_spatial_detection"),
    ("_contrib_box_encode", "expected", "rnn_spatial_detection"),
    ("RNN", "nan|inf|gradients", "rnn_spatial_detection"),
    ("ROIPooling|_contrib_ROIAlign|_contrib_(RROIAlign|PSROIPooling|DeformablePSROIPooling)", "given (image|'data')", "rnn_spatial_detection"),
    ("SpatialTransformer|_contrib_.*DeformableConvolution", ADD, "rnn_spatial_detection"),
    ("_cvimresize|_cvcopyMakeBorder|_image_resize", r"uint8\[(\d+, )+([5-9]|\d\d+|2)\]", "images_quantized"),
    ("_image_adjust_lighting|_image_random_hue", r"\[(\d+, )+1\]", "images_quantized"),
    ("_contrib_quantized_conv", "inputs afterwards 1.* view", "images_quantized"),
    ("_image_flip.*", r"gradients|\[(\d+, )*\d*[13579], (\d+, )?\d+\]", "images_quantized"),
    ("_contrib_quantize.*|_contrib_requantize", "expected|special", "images_quantized"),
    ("_contrib_quantized_batch_norm|_contrib_quantized_elemwise_(add|mul)", ALWAYS, "images_quantized"),
    ("_cvimdecode", "expected", "images_quantized"),
    # Programs. What NumPy says of a function or an index of its own is what mx.np means.
    (r"np\..*|index np", "NumPy agrees with ours: ", "numpy"),
    ("index nd", "NumPy agrees with ours: ", "arrays"),
    ("control .*", "^(hybrid|symbol), slopes .*their at once, slopes, is what ours say", "custom_control_flow"),
    ("index n[dp]", r"^slopes 1: .*array\(\[[^]]*-", "arrays"),
    (r"np\..*", r"^slopes 0: \S+, not 0\.0 .*w = np\.atleast", "numpy"),
    (r"np\..*", r"^slopes 0: \S+, not 0\.0 .*w = (np|x)\.(var|std)\(", "reduce"),
    ("sparse parts", r"^csr part 0: .*csr part: r = x\[-?\d*:-?\d*\]", "sparse"),
    ("sparse NAG row_sparse", r"^step .*float64", "optim"),
    ("sparse csr/default", r"^two .*broadcast_div", "sparse"),
    ("sparse .*", r"^number .*int32.*mx\.nd\.norm\(", "reduce"),
    ("loss Softmax(CE|CrossEntropy)Loss", r"^\w+ 0: 0\.0, not -1\.43", "norm"),
    (r"(types )?np\.ptp", r": \w+\(\), not float64\(\)", "numpy"),
    ("small .*Orthogonal", r"^initializer 0: -?(\d\.\d+), not -?\1 ", "training"),
    ("np.random .*", r"random\.chisquare", "random"),
    (r"types .*", r"NumPy agrees with ours: |, not -9223372036854775808 ", "numpy"),
    (r"types np\.reshape", "order='F'", "shape"),
    (r"types np\.linalg\.norm", r"^\w+ 0: float32\(.*\), not (u?int\d+|bool)\(", "numpy"),
    (r"types mx\.nd\.norm", r"^u?int\d+ 0: ", "reduce"),
    (r"types x\.attach_grad", r"^u?int8 0: ", "reduce"),
    (r"types np\.unravel_index", "^bool: ", "index"),
    (r"types (mx\.nd\.C|npx\.c)onvolution", "^int8: ", "layers"),
    (r"types mx\.nd\.Sequence.*", "given length", "index"),
    (r"types mx\.nd\.contrib\.quantize_v2", "^uint8: ", "images_quantized"),
    (r"types .*(flip_left_right|image\.resize)", r"^\w+ 0: \d", "images_quantized"),
    (r"types (mx\.nd|npx)\.softmax", "^float16 0: .*dtype=", "norm"),
    (r"types (\S+ / x|x \*\* -1|np\.power)", r"^(u?int\d+|bool) 0: .*(-214748364|uint8)", "elemwise"),
    (r"quantize_net .*", r"^near \d: 1\.0, not 0\.0", "images_quantized"),  # ours is the nearer
    # Networks.
    ("network (infer|cached_infer|predict)", r"nearer to float64: ours.*Convolution", "execution"),
    ("network .*", r"nearer to float64: ours.*(RNN|Pooling|L2Norm|log_softmax)", "execution"),
]  # fmt: skip


def reason(operator, text):
    """The page with the reason, or None."""
    return next((page for operators, found, page in KNOWN if re.fullmatch(operators, operator) and re.search(found, text, re.DOTALL)), None)
