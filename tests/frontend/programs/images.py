# SPDX-License-Identifier: Apache-2.0
"""Images on their way into networks: records of them, what ImageRecordIter does to them, ImageIter and its augmenters. The images are
PNG files, which every decoder reads alike; what is drawn at random is compared by what holds for every drawing."""
import struct
import zlib

from registry import program


def png(np, pixels):
    """A PNG file of an array of bytes (height, width, 3)."""
    def chunk(kind, body):
        return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))

    height, width, _ = pixels.shape
    rows = b"".join(b"\0" + row.tobytes() for row in pixels)
    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")


def picture(np, number, height=12, width=16):
    """Smooth, so that ways of resizing differ little, and unlike every other."""
    y, x = np.mgrid[0:height, 0:width]
    return np.stack([(x * 9 + number * 13) % 256, (y * 11 + number * 29) % 256, (x * 3 + y * 5 + number * 7) % 256], -1).astype("uint8")


def records(mx, np, count=5, labels=lambda i: float(i), **size):
    """images.rec with its index."""
    writer = mx.recordio.MXIndexedRecordIO("images.idx", "images.rec", "w")
    for i in range(count):
        label = labels(i)
        header = mx.recordio.IRHeader(0, label, i, 0)
        writer.write_idx(i, mx.recordio.pack(header, png(np, picture(np, i, **size))))
    writer.close()


def batches(mx, **settings):
    """Data, label and padding of all batches. (The release leaves their numbers at 0.)"""
    given = {"path_imgrec": "images.rec", "data_shape": (3, 12, 16), "batch_size": 2, "preprocess_threads": 2, **settings}
    return [[batch.data[0].copy(), batch.label[0].copy(), batch.pad] for batch in mx.io.ImageRecordIter(**given)]


@program()
def records_of_images_in_order(mx, np):
    records(mx, np)
    iterator = mx.io.ImageRecordIter(path_imgrec="images.rec", data_shape=(3, 12, 16), batch_size=2, preprocess_threads=2)
    results = [[tuple(item) for item in iterator.provide_data], [tuple(item) for item in iterator.provide_label]]
    for _ in range(2):
        results.append([[batch.data[0].copy(), batch.label[0].copy(), batch.pad] for batch in iterator])
        iterator.reset()
    return results + [batches(mx, batch_size=5), batches(mx, batch_size=3, prefetch_buffer=1)]


@program()
def records_of_images_normalized(mx, np):
    records(mx, np)
    return [batches(mx, mean_r=10.0, mean_g=20.0, mean_b=30.0), batches(mx, std_r=2.0, std_g=4.0, std_b=8.0),
            batches(mx, mean_r=10.0, mean_g=20.0, mean_b=30.0, std_r=58.0, std_g=57.0, std_b=56.0, scale=0.5), batches(mx, scale=1 / 255)]


@program()
def records_of_images_cut(mx, np):
    records(mx, np)
    return [batches(mx, data_shape=(3, 8, 8)), batches(mx, data_shape=(3, 12, 12)), batches(mx, data_shape=(3, 7, 9)),
            batches(mx, data_shape=(1, 12, 16)), batches(mx, pad=2, data_shape=(3, 16, 20)),
            batches(mx, pad=1, fill_value=0, data_shape=(3, 14, 18))]


@program(tolerance=2e-2)
def records_of_images_resized(mx, np):
    records(mx, np, height=24, width=32)
    return [batches(mx, resize=12, data_shape=(3, 12, 12), inter_method=method) for method in (0, 1, 2, 3)]


@program()
def records_of_images_with_several_labels(mx, np):
    records(mx, np, labels=lambda i: np.array([i, i * 10, i * 100], "float32"))
    return batches(mx, label_width=3)


@program()
def records_of_images_in_parts(mx, np):
    records(mx, np, count=9)
    return [[label for _, label, _ in batches(mx, num_parts=3, part_index=part, batch_size=3)] for part in range(3)]


@program()
def records_of_images_in_bytes(mx, np):
    records(mx, np)
    results = []
    for name, kind in (("ImageRecordUInt8Iter", "uint8"), ("ImageRecordInt8Iter", "int8")):
        settings = {"mean_r": 100.0, "mean_g": 100.0, "mean_b": 100.0} if kind == "int8" else {}
        iterator = getattr(mx.io, name)(path_imgrec="images.rec", data_shape=(3, 12, 16), batch_size=2, **settings)
        results.append([[str(batch.data[0].dtype), batch.data[0].shape, batch.label[0]] for batch in iterator])
    raw = mx.io.ImageRecordUInt8Iter(path_imgrec="images.rec", data_shape=(3, 12, 16), batch_size=5)
    return results + [raw.next().data[0].astype("int32")]


@program()
def records_of_images_in_any_order(mx, np):
    """Which order it is is each library's own: every image comes once an epoch, and the same seed gives the same order."""
    records(mx, np, count=8)

    def labels(seed):
        iterator = mx.io.ImageRecordIter(path_imgrec="images.rec", path_imgidx="images.idx", data_shape=(3, 12, 16), batch_size=4,
                                         shuffle=True, seed=seed, preprocess_threads=1)
        epochs = []
        for _ in range(2):
            epochs.append([int(label) for batch in iterator for label in batch.label[0].asnumpy()])
            iterator.reset()
        return epochs

    first, again = labels(3), labels(3)
    return [[sorted(epoch) for epoch in first], first == again]


@program()
def records_of_images_mirrored_or_not(mx, np):
    """Each image is itself or its mirror image, and with enough of them both are there."""
    records(mx, np, count=40)
    found = {"itself": 0, "mirrored": 0, "else": 0}
    for data, label, _ in batches(mx, rand_mirror=True, batch_size=8, seed=5):
        for image, number in zip(data.asnumpy(), label.asnumpy()):
            right = picture(np, int(number)).transpose(2, 0, 1).astype("float32")
            kind = "itself" if np.array_equal(image, right) else "mirrored" if np.array_equal(image, right[:, :, ::-1]) else "else"
            found[kind] += 1
    return [found["else"], found["itself"] > 5, found["mirrored"] > 5]


@program()
def records_of_images_cut_anywhere(mx, np):
    """Every crop is a part of its image."""
    records(mx, np, count=10)
    inside, places = 0, set()
    for data, label, _ in batches(mx, rand_crop=True, data_shape=(3, 8, 8), seed=5):
        for image, number in zip(data.asnumpy(), label.asnumpy()):
            whole = picture(np, int(number)).transpose(2, 0, 1).astype("float32")
            at = [(y, x) for y in range(5) for x in range(9) if np.array_equal(whole[:, y:y + 8, x:x + 8], image)]
            inside += bool(at)
            places.update(at)
    return [inside, len(places) > 3]


@program()
def records_of_images_that_are_missing_errors(mx, np):
    mx.io.ImageRecordIter(path_imgrec="nowhere.rec", data_shape=(3, 8, 8), batch_size=1)


@program()
def images_decoded_and_changed(mx, np):
    image = mx.image
    data = png(np, picture(np, 3))
    decoded = image.imdecode(data)
    results = [decoded, image.imdecode(data, to_rgb=0), image.imdecode(data, flag=0).shape, image.fixed_crop(decoded, 2, 1, 6, 5),
               image.center_crop(decoded, (8, 6)), image.scale_down((640, 480), (720, 120)), image.color_normalize(
                   decoded.astype("float32"), mx.nd.array([1, 2, 3]), mx.nd.array([2, 2, 2])), image.copyMakeBorder(decoded, 1, 2, 3, 4)]
    crop, place = image.random_crop(decoded, (4, 4))
    x, y, width, height = place
    return results + [mx.nd.array(decoded.asnumpy()[y:y + height, x:x + width] - crop.asnumpy())]


@program()
def images_resized(mx, np):
    image = mx.image.imdecode(png(np, picture(np, 3, 24, 32)))
    return [mx.image.imresize(image, 16, 12, interp=way).astype("int32") for way in (0, 1, 3)] + [
        mx.image.resize_short(image, 9, interp=3).astype("int32"), mx.image.fixed_crop(image, 4, 4, 16, 16, (8, 8), 1).astype("int32")]


@program()
def augmenters_that_draw_nothing(mx, np):
    image = mx.image.imdecode(png(np, picture(np, 3, 24, 32)))
    augmenters = mx.image.CreateAugmenter((3, 12, 16), resize=0, mean=np.array([1.0, 2.0, 3.0]), std=np.array([2.0, 3.0, 4.0]))
    results = [type(item).__name__ for item in augmenters]
    for item in augmenters:
        image = item(image)
    more = mx.image.CreateAugmenter((3, 8, 8), resize=9, rand_crop=True, rand_mirror=True, brightness=0.1, contrast=0.1, saturation=0.1,
                                    hue=0.1, pca_noise=0.1, rand_gray=0.1, mean=True, std=True)
    chosen = [mx.image.ForceResizeAug((8, 6), 0), mx.image.CastAug("float64"), mx.image.HorizontalFlipAug(1.0),
              mx.image.ColorNormalizeAug(mx.nd.array([1, 1, 1]), mx.nd.array([2, 2, 2])), mx.image.SequentialAug([mx.image.CastAug()])]
    return results + [image.copy(), [type(item).__name__ for item in more], [item(image.copy()) for item in chosen], chosen[2].dumps(),
                      mx.image.BrightnessJitterAug(0)(image), mx.image.ContrastJitterAug(0)(image), mx.image.SaturationJitterAug(0)(image)]


@program()
def image_iterators_in_python(mx, np):
    records(mx, np)
    results = []
    for settings in ({"path_imgrec": "images.rec", "path_imgidx": "images.idx"}, {"path_imgrec": "images.rec"}):
        for way in ("pad", "discard"):
            iterator = mx.image.ImageIter(2, (3, 8, 8), aug_list=[mx.image.CenterCropAug((8, 8)), mx.image.CastAug()],
                                          last_batch_handle=way, **settings)
            results.append([[batch.data[0].copy(), batch.label[0].copy(), batch.pad] for batch in iterator])
            iterator.reset()
            results.append(len(list(iterator)))
    for i in range(3):
        with open(f"{i}.png", "wb") as file:
            file.write(png(np, picture(np, i)))
    iterator = mx.image.ImageIter(3, (3, 12, 16), imglist=[[2.5, "0.png"], [1.0, "1.png"], [0.0, "2.png"]], path_root=".",
                                  aug_list=[mx.image.CastAug()])
    batch = iterator.next()
    return results + [batch.data[0], batch.label[0], iterator.next_sample.__name__, tuple(iterator.provide_data[0])]


@program()
def images_with_boxes(mx, np):
    def label(i):
        return np.array([2, 5, i % 3, 0.1, 0.2, 0.5, 0.6, (i + 1) % 3, 0.3, 0.3, 0.9, 0.8], "float32")

    records(mx, np, labels=label)
    iterator = mx.image.ImageDetIter(2, (3, 12, 16), path_imgrec="images.rec", path_imgidx="images.idx")
    results = [tuple(iterator.provide_label[0]), [[batch.data[0].copy(), batch.label[0].copy()] for batch in iterator]]
    flipped = mx.image.DetHorizontalFlipAug(1.0)(mx.nd.arange(24).reshape((2, 4, 3)), np.array([[1, 0.1, 0.2, 0.5, 0.6]]))
    names = [type(item).__name__ for item in mx.image.CreateDetAugmenter((3, 8, 8), rand_crop=0.5, rand_pad=0.5, rand_mirror=True, mean=True)]
    return results + [list(flipped), names]


@program()
def datasets_of_images(mx, np):
    records(mx, np)
    dataset = mx.gluon.data.vision.ImageRecordDataset("images.rec")
    image, label = dataset[3]
    transforms = mx.gluon.data.vision.transforms
    changed = dataset.transform_first(transforms.Compose([transforms.ToTensor(), transforms.Normalize(0.5, 0.25)]))
    loader = mx.gluon.data.DataLoader(changed, batch_size=2, last_batch="keep")
    return [len(dataset), image, float(label), [list(batch) for batch in loader]]
