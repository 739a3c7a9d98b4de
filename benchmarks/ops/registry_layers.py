# SPDX-License-Identifier: Apache-2.0
"""Operators of networks and of images."""
from registry_rows import FLOATS, Given, Row, Sizes


class Layers(Sizes):
    def activations(self):
        picture = self.size((8, 64, 28, 28), (2, 3, 4, 4))
        for act in "relu sigmoid tanh softrelu softsign".split():
            for dtype in FLOATS:
                yield Row("Activation", [self.of(*picture, dtype=dtype)], {"act_type": act})
        for act in "leaky elu selu gelu".split():
            for dtype in FLOATS:
                yield Row("LeakyReLU", [self.of(*picture, dtype=dtype)], {"act_type": act, "slope": 0.1})
        yield Row("LeakyReLU", [self.of(*picture), self.of(picture[1])], {"act_type": "prelu"})
        yield Row("LeakyReLU", [self.of(*picture)], {"act_type": "rrelu"}, training=False)
        yield Row("LeakyReLU", [self.of(*picture)], {"act_type": "rrelu"})
        for op in "softmax log_softmax softmin".split():
            for dtype in FLOATS:
                yield Row(op, [self.plane(dtype)], {"axis": -1})
                yield Row(op, [self.plane(dtype)], {"axis": 0})
            yield Row(op, [self.of(*picture)], {"axis": 1})
            yield Row(op, [self.of(self.size(100000, 8), 4)], {"axis": -1})
            yield Row(op, [self.plane()], {"axis": -1, "temperature": 2.0})
        n, m = self.size((512, 1024), (8, 8))
        yield Row("softmax", [self.plane(), self.of(n, dtype="int32", low=1, high=m)], {"axis": -1, "use_length": True}, gradients=[0])
        for mode in ("instance", "channel"):
            yield Row("SoftmaxActivation", [self.of(*picture)], {"mode": mode})
        for mode in ("training", "always"):
            for axes in ((), (1,)):
                yield Row("Dropout", [self.plane()], {"p": 0.5, "mode": mode, "axes": axes})
        yield Row("Dropout", [self.plane("float16")], {"p": 0.3})

    def losses(self):
        n, m = self.size((512, 1000), (8, 8))
        label = self.of(n, low=0, high=m)
        yield Row("softmax_cross_entropy", [self.of(n, m), label], gradients=[0])
        for dtype in FLOATS:
            yield Row("SoftmaxOutput", [self.of(n, m, dtype=dtype), self.of(n, dtype=dtype, low=0, high=m)], gradients=[0])
        yield Row("SoftmaxOutput", [self.of(n, m), label], {"normalization": "valid", "use_ignore": True, "ignore_label": 1}, gradients=[0])
        yield Row("SoftmaxOutput", [self.of(n, m), label], {"smooth_alpha": 0.1}, gradients=[0])
        yield Row("SoftmaxOutput", [self.of(*self.size((8, 21, 56, 56), (2, 3, 4, 4))), self.of(*self.size((8, 56, 56), (2, 4, 4)), low=0, high=3)],
                  {"multi_output": True}, gradients=[0])
        for op in "LinearRegressionOutput LogisticRegressionOutput MAERegressionOutput".split():
            yield Row(op, [self.of(n, m), self.of(n, m)], gradients=[0])
        for linear in (True, False):
            yield Row("SVMOutput", [self.of(n, m), label], {"use_linear": linear}, gradients=[0])
        yield Row("CTCLoss", [self.of(*self.size((50, 16, 64), (5, 3, 6))), self.of(*self.size((16, 10), (3, 3)), low=1, high=5)], gradients=[0])
        yield Row("IdentityAttachKLSparseReg", [self.of(n, m, low=0.1, high=0.9), self.of(m, low=0.1, high=0.9)], gradients=[0])

    def layers(self):
        picture = self.size((8, 64, 28, 28), (2, 3, 4, 4))
        channels = picture[1]
        ones = [self.of(channels, low=0.5, high=1.5) for _ in range(4)]
        for op in "BatchNorm _contrib_BatchNormWithReLU _contrib_SyncBatchNorm BatchNorm_v1".split():
            extra = {"key": "k"} if "Sync" in op else {}
            for training in (True, False):
                yield Row(op, [self.of(*picture), *ones], {"fix_gamma": False, "use_global_stats": False} | extra, training=training, gradients=[0, 1, 2])
            yield Row(op, [self.of(*picture), *ones], {"fix_gamma": True, "use_global_stats": True} | extra, gradients=[0, 1, 2])
        yield Row("BatchNorm", [self.of(*self.size((8, 28, 28, 64), (2, 4, 4, 3))), *ones], {"fix_gamma": False, "axis": 3}, gradients=[0, 1, 2])
        yield Row("BatchNorm", [self.of(self.size(4096, 8), channels), *ones], {"fix_gamma": False}, gradients=[0, 1, 2])
        yield Row("BatchNorm", [self.of(*picture, dtype="float16"), *ones], {"fix_gamma": False}, gradients=[0, 1, 2])
        width = self.size(768, 8)
        for dtype in FLOATS:
            yield Row("LayerNorm", [self.of(self.size(512, 8), width, dtype=dtype), self.of(width, dtype=dtype), self.of(width, dtype=dtype)], {"axis": -1})
        yield Row("LayerNorm", [self.of(*self.size((64, 32, 64), (2, 3, 4))), self.of(self.size(32, 3)), self.of(self.size(32, 3))], {"axis": 1})
        yield Row("GroupNorm", [self.of(*self.size((8, 64, 28, 28), (2, 4, 4, 4))), self.of(self.size(64, 4)), self.of(self.size(64, 4))], {"num_groups": 4 if self.large else 2})
        yield Row("InstanceNorm", [self.of(*picture), self.of(channels), self.of(channels)], {"eps": 1e-3})
        for mode in ("instance", "channel", "spatial"):
            yield Row("L2Normalization", [self.of(*picture)], {"mode": mode})
        for size in (3, 5):
            yield Row("LRN", [self.of(*picture)], {"nsize": size, "alpha": 1e-4, "beta": 0.75})

    def convolutions(self):
        def conv(op, data, weight, dtype="float32", bias=True, **attrs):
            groups = attrs.get("num_group", 1)
            filters = weight[0] if op != "Deconvolution" else weight[1] * groups
            inputs = [self.of(*data, dtype=dtype), self.of(*weight, dtype=dtype)] + ([self.of(filters, dtype=dtype)] if bias else [])
            return Row(op, inputs, {"num_filter": filters, "no_bias": not bias} | attrs)

        side = self.size(28, 6)
        channels = self.size(32, 4)
        for dtype in FLOATS:
            yield conv("Convolution", (2, channels, side, side), (channels, channels, 3, 3), dtype, kernel=(3, 3), pad=(1, 1))
            yield conv("Convolution", (2, channels, side, side), (channels, channels, 1, 1), dtype, kernel=(1, 1))
            yield conv("Convolution", (2, channels, side, side), (channels, 1, 3, 3), dtype, kernel=(3, 3), pad=(1, 1), num_group=channels)
            yield conv("Deconvolution", (2, channels, side, side), (channels, channels, 4, 4), dtype, kernel=(4, 4), stride=(2, 2), pad=(1, 1))
        yield conv("Convolution", (2, 3, side * 2, side * 2), (channels, 3, 7, 7), kernel=(7, 7), stride=(2, 2), pad=(3, 3))
        yield conv("Convolution", (2, channels, side, side), (channels, channels, 3, 3), kernel=(3, 3), stride=(2, 2), pad=(1, 1), bias=False)
        yield conv("Convolution", (2, channels, side, side), (channels, channels, 3, 3), kernel=(3, 3), dilate=(2, 2), pad=(2, 2), bias=False)
        yield conv("Convolution", (2, channels, side, side), (channels, channels // 4, 3, 3), kernel=(3, 3), pad=(1, 1), num_group=4)
        yield conv("Convolution", (2, channels, side, side), (channels, channels, 5, 5), kernel=(5, 5), pad=(2, 2))
        yield conv("Convolution", (2, channels, side, side), (channels, channels, 1, 7), kernel=(1, 7), pad=(0, 3))
        yield conv("Convolution", (4, channels, side * 8), (channels, channels, 3), kernel=(3,), pad=(1,))
        yield conv("Convolution", (4, channels, side * 8), (channels, channels, 5), kernel=(5,), dilate=(2,), pad=(4,))
        yield conv("Convolution", (4, channels, side * 8), (channels, 1, 3), kernel=(3,), pad=(1,), num_group=channels)
        yield conv("Convolution", (1, channels // 2, self.size(8, 4), side // 2, side // 2), (channels // 2, channels // 2, 3, 3, 3), kernel=(3, 3, 3), pad=(1, 1, 1))
        yield conv("Deconvolution", (2, channels, side, side), (channels, 1, 4, 4), kernel=(4, 4), stride=(2, 2), pad=(1, 1), num_group=channels, bias=False)
        yield conv("Deconvolution", (4, channels, side * 4), (channels, channels, 4), kernel=(4,), stride=(2,), pad=(1,))
        yield conv("Deconvolution", (1, channels // 2, self.size(8, 4), side // 2, side // 2), (channels // 2, channels // 2, 4, 4, 4), kernel=(4, 4, 4), stride=(2, 2, 2), pad=(1, 1, 1))
        yield conv("Convolution_v1", (2, channels, side, side), (channels, channels, 3, 3), kernel=(3, 3), pad=(1, 1))

    def pooling(self):
        picture = self.size((8, 64, 28, 28), (2, 3, 6, 6))
        for kind in "max avg sum lp".split():
            extra = {"p_value": 2} if kind == "lp" else {}
            for dtype in FLOATS:
                yield Row("Pooling", [self.of(*picture, dtype=dtype)], {"kernel": (2, 2), "stride": (2, 2), "pool_type": kind} | extra)
            yield Row("Pooling", [self.of(*picture)], {"kernel": (3, 3), "stride": (2, 2), "pad": (1, 1), "pool_type": kind} | extra)
            yield Row("Pooling", [self.of(*picture)], {"kernel": (3, 3), "stride": (1, 1), "pad": (1, 1), "pool_type": kind} | extra)
            yield Row("Pooling", [self.of(*picture)], {"kernel": (1, 1), "global_pool": True, "pool_type": kind} | extra)
            yield Row("Pooling", [self.of(*self.size((16, 64, 400), (2, 3, 6)))], {"kernel": (3,), "stride": (2,), "pool_type": kind} | extra)
            yield Row("Pooling", [self.of(*self.size((2, 32, 8, 28, 28), (1, 2, 4, 4, 4)))], {"kernel": (2, 2, 2), "stride": (2, 2, 2), "pool_type": kind} | extra)
            yield Row("Pooling", [self.of(*self.size((8, 28, 28, 64), (2, 6, 6, 3)))], {"kernel": (2, 2), "stride": (2, 2), "pool_type": kind, "layout": "NHWC"} | extra)
            if kind != "lp":
                yield Row("Pooling_v1", [self.of(*picture)], {"kernel": (2, 2), "stride": (2, 2), "pool_type": kind})
        for out in ((1, 1), (7, 7), (5, 3)):
            yield Row("_contrib_AdaptiveAvgPooling2D", [self.of(*picture)], {"output_size": out})
        height, width = self.size((56, 40), (7, 5))
        for corners in (True, False):
            yield Row("_contrib_BilinearResize2D", [self.of(*picture)], {"height": height, "width": width, "align_corners": corners})
        yield Row("_contrib_BilinearResize2D", [self.of(*picture)], {"scale_height": 2.0, "scale_width": 2.0, "mode": "odd_scale"})
        yield Row("UpSampling", [self.of(*picture)], {"scale": 2, "sample_type": "nearest", "num_args": 1})
        yield Row("UpSampling", [self.of(*picture), self.of(picture[1], 1, 4, 4)], {"scale": 2, "sample_type": "bilinear", "num_filter": picture[1], "num_args": 2})

    def recurrent(self):
        steps, batch, width, hidden = self.size((20, 16, 64, 64), (3, 2, 4, 5))
        gates = {"rnn_relu": 1, "rnn_tanh": 1, "lstm": 4, "gru": 3}
        for mode, count in gates.items():
            for layers, both in ((1, False), (2, True)):
                directions = 2 if both else 1
                size = 0
                for layer in range(layers):
                    given = width if layer == 0 else hidden * directions
                    size += directions * count * hidden * (given + hidden + 2)
                state = self.of(layers * directions, batch, hidden)
                inputs = [self.of(steps, batch, width), self.of(size, low=-0.1, high=0.1), state] + ([state] if mode == "lstm" else [])
                yield Row("RNN", inputs, {"state_size": hidden, "num_layers": layers, "mode": mode, "bidirectional": both, "state_outputs": True})

    def spatial(self):
        batch, channels, side = self.size((4, 16, 56), (2, 3, 5))
        picture = self.of(batch, channels, side, side)
        yield Row("GridGenerator", [self.of(batch, 6)], {"transform_type": "affine", "target_shape": (side, side)})
        yield Row("GridGenerator", [self.of(batch, 2, side, side)], {"transform_type": "warp"})
        for dtype in FLOATS:
            yield Row("BilinearSampler", [self.of(batch, channels, side, side, dtype=dtype), self.of(batch, 2, side, side, dtype=dtype, low=-1.1, high=1.1)])
        yield Row("SpatialTransformer", [picture, self.of(batch, 6, low=-1, high=1)], {"target_shape": (side, side), "transform_type": "affine", "sampler_type": "bilinear"})
        attrs = {"kernel_size": 1, "max_displacement": self.size(4, 2), "stride1": 1, "stride2": 1, "pad_size": self.size(4, 2)}
        for multiply in (True, False):
            yield Row("Correlation", [picture, picture], attrs | {"is_multiply": multiply})
        small = self.size(20, 5)
        data = self.of(2, channels, small, small)
        offset = self.of(2, 18, small, small, low=-1, high=1)
        weight = [self.of(channels, channels, 3, 3), self.of(channels)]
        attrs = {"kernel": (3, 3), "pad": (1, 1), "num_filter": channels}
        yield Row("_contrib_DeformableConvolution", [data, offset, *weight], attrs)
        yield Row("_contrib_ModulatedDeformableConvolution", [data, offset, self.of(2, 9, small, small, low=0, high=1), *weight], attrs)

    def detection(self):
        batch, anchors, classes = self.size((4, 2000, 21), (2, 8, 3))
        side = self.size(28, 4)
        yield Row("_contrib_MultiBoxPrior", [self.of(1, 8, side, side)], {"sizes": (0.4, 0.2), "ratios": (1, 2, 0.5)})
        anchor = self.of(1, anchors, 4, kind="boxes")
        yield Row("_contrib_MultiBoxDetection", [self.of(batch, classes, anchors, low=0, high=1), self.of(batch, anchors * 4, low=-0.1, high=0.1), anchor], gradients=False)
        yield Row("_contrib_box_iou", [self.of(self.size(500, 8), 4, kind="boxes"), self.of(self.size(500, 8), 4, kind="boxes")], {"format": "corner"})
        for force in (True, False):
            yield Row("_contrib_box_nms", [Given((batch, anchors, 6), kind="scored")],
                      {"overlap_thresh": 0.5, "valid_thresh": 0.1, "coord_start": 2, "score_index": 1, "id_index": 0, "force_suppress": force})
        yield Row("_contrib_box_decode", [self.of(batch, anchors, 4, low=-0.1, high=0.1), anchor], {"format": "corner"}, gradients=False)
        yield Row("_contrib_box_encode", [self.of(batch, anchors, low=0, high=2), self.of(batch, anchors, low=0, high=8), self.of(batch, anchors, 4, kind="boxes"),
                                          self.of(batch, 8, 4, kind="boxes"), self.of(4), self.of(4, low=0.1, high=0.2)], gradients=False)
        yield Row("_contrib_bipartite_matching", [self.of(batch, self.size(200, 8), self.size(50, 4), low=0, high=1)], {"threshold": 0.01, "is_ascend": False}, gradients=False)
        for op, count in (("_contrib_Proposal", 1), ("_contrib_MultiProposal", 2)):
            yield Row(op, [self.of(count, 24, side, side, low=0, high=1), self.of(count, 48, side, side, low=-0.2, high=0.2), self.of(count, 3, low=200, high=300)],
                      {"rpn_pre_nms_top_n": self.size(2000, 30), "rpn_post_nms_top_n": self.size(300, 6), "scales": (2, 4, 8, 16), "ratios": (0.5, 1)}, gradients=False)
        yield Row("_contrib_hawkesll", [self.of(3, 3, low=0.1, high=1), self.of(3, low=0.1, high=0.5), self.of(3, low=0.5, high=1), self.of(3, 3, low=0.1, high=1),
                                        self.of(3, self.size(2000, 4), low=0.1, high=1), self.of(3, self.size(2000, 4), dtype="int32", low=0, high=3),
                                        self.of(3, low=self.size(1990, 3), high=self.size(2000, 4)), self.of(3, low=4000, high=4001)], gradients=[0, 1, 3])

    def regions_of_maps(self):
        batch, channels, side = self.size((2, 32, 28), (2, 8, 6))
        regions = Given((self.size(64, 4), 5), "float32", kind="regions", high=side)
        for op, attrs in (("ROIPooling", {"pooled_size": (7, 7), "spatial_scale": 1.0}), ("_contrib_ROIAlign", {"pooled_size": (7, 7), "spatial_scale": 1.0, "sample_ratio": 2}),
                          ("_contrib_ROIAlign", {"pooled_size": (7, 7), "spatial_scale": 1.0})):
            yield Row(op, [self.of(batch, channels, side, side), regions], attrs, gradients=[0])
        yield Row("_contrib_RROIAlign", [self.of(batch, channels, side, side), Given((self.size(64, 4), 6), "float32", kind="regions", high=side)],
                  {"pooled_size": (7, 7), "spatial_scale": 1.0, "sampling_ratio": 2}, gradients=False)
        yield Row("_contrib_PSROIPooling", [self.of(1, 8, side, side), Given((self.size(64, 4), 5), "float32", kind="regions", high=side, low=1)],
                  {"spatial_scale": 1.0, "output_dim": 2, "pooled_size": 2, "group_size": 2}, gradients=[0])
        yield Row("_contrib_DeformablePSROIPooling", [self.of(1, 8, side, side), Given((self.size(64, 4), 5), "float32", kind="regions", high=side, low=1)],
                  {"spatial_scale": 1.0, "output_dim": 2, "pooled_size": 2, "group_size": 2, "sample_per_part": 2, "no_trans": True}, gradients=[0])
        anchors = self.size(1000, 8)
        yield Row("_contrib_MultiBoxTarget", [self.of(1, anchors, 4, kind="boxes"), Given((4, 8, 5), "float32", kind="labelled"), self.of(4, 5, anchors)],
                  {"negative_mining_ratio": 3.0}, gradients=False)

    def images(self):
        height, width = self.size((240, 320), (8, 8))
        for dtype in ("uint8", "float32"):
            picture = self.of(height, width, 3, dtype=dtype, low=0, high=255)
            several = self.of(4, height, width, 3, dtype=dtype, low=0, high=255)
            for given in (picture, several):
                yield Row("_image_to_tensor", [given])
                yield Row("_image_crop", [given], {"x": 1, "y": 2, "width": width - 4, "height": height - 4})
                for kind in (0, 1):
                    yield Row("_image_resize", [given], {"size": self.size((224, 224), (5, 5)), "interp": kind})
            yield Row("_image_resize", [picture], {"size": (64, 48) if self.large else (4, 4), "interp": 2})
            for op in "_image_flip_left_right _image_flip_top_bottom".split():
                yield Row(op, [picture])
            yield Row("_image_adjust_lighting", [picture], {"alpha": (0.1, -0.05, 0.02)})
            for op in "brightness contrast saturation".split():
                yield Row("_image_random_" + op, [picture], {"min_factor": 0.9, "max_factor": 0.9})
            yield Row("_image_random_hue", [picture], {"min_factor": 1.2, "max_factor": 1.2})
            yield Row("_image_random_lighting", [picture], {"alpha_std": 0.1})
            yield Row("_image_random_color_jitter", [picture], {"brightness": 0.1, "contrast": 0.1, "saturation": 0.1, "hue": 0.1})
        tensor = self.of(3, height, width, low=0, high=1)
        for given in (tensor, self.of(4, 3, height, width, low=0, high=1)):
            yield Row("_image_normalize", [given], {"mean": (0.4, 0.5, 0.6), "std": (0.2, 0.25, 0.3)})
        picture = self.of(height, width, 3, dtype="uint8", low=0, high=255)
        for kind in (0, 1, 2, 3, 4):
            yield Row("_cvimresize", [picture], {"w": self.size(160, 5), "h": self.size(160, 9), "interp": kind})
        for kind in (0, 1, 2, 3, 4):
            yield Row("_cvcopyMakeBorder", [picture], {"top": 1, "bot": 2, "left": 3, "right": 4, "type": kind, "value": 7.0})
