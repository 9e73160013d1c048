"""Changes of one image: a PIL image, an array of height, width, channel, or a tensor of channel, height, width. The kind stays."""

import numbers
from typing import Any

import numpy
import torch

from argosy.dynamic.tensor import Tensor
from argosy.errors import InvalidArgumentError

__all__ = [
    "to_tensor",
    "normalize",
    "resize",
    "crop",
    "center_crop",
    "pad",
    "hflip",
    "vflip",
    "rotate",
    "to_grayscale",
    "adjust_brightness",
    "adjust_contrast",
    "adjust_saturation",
    "adjust_hue",
    "erase",
    "size_of",
]

_GRAY = numpy.array([0.299, 0.587, 0.114], "float32")


def _image():
    from PIL import Image

    return Image


def _is_pil(img):
    return isinstance(img, _image().Image)


def _check(img):
    if not _is_pil(img) and not isinstance(img, (numpy.ndarray, Tensor)):
        raise InvalidArgumentError(f"an image is a PIL image, an array or a Tensor; found {type(img).__name__}")


def is_number(value):
    return isinstance(value, numbers.Number)


def size_of(img):
    """(height, width)."""
    _check(img)
    if _is_pil(img):
        return img.size[1], img.size[0]
    return tuple(img.shape[-2:]) if isinstance(img, Tensor) else tuple(img.shape[:2])


def _as_array(img):
    """(array of height, width, channel, how to make of one what `img` was)."""
    _check(img)
    if _is_pil(img):
        return numpy.asarray(img), lambda array: _image().fromarray(numpy.ascontiguousarray(array))
    if isinstance(img, Tensor):
        return img.numpy().transpose(1, 2, 0), lambda array: Tensor(torch.from_numpy(numpy.ascontiguousarray(array.transpose(2, 0, 1))))
    return img, lambda array: array


def to_tensor(pic, data_format="CHW"):
    """An image as a float32 tensor, channels first unless data_format is 'HWC'; values of 8 bits become 0 to 1.

    >>> paddle.vision.transforms.to_tensor(np.full([1, 1, 1], 255, "uint8")).tolist()
    [[[1.0]]]
    """
    if isinstance(pic, Tensor):
        return pic
    array, _ = _as_array(pic)
    array = array[:, :, None] if array.ndim == 2 else array
    values = torch.from_numpy(numpy.array(array))
    values = values.float() / 255.0 if array.dtype == numpy.uint8 else values.float()
    if data_format not in ("CHW", "HWC"):
        raise InvalidArgumentError(f"to_tensor: data_format is 'CHW' or 'HWC'; found {data_format!r}")
    return Tensor(values.permute(2, 0, 1).contiguous() if data_format == "CHW" else values)


def normalize(img, mean, std, data_format="CHW", to_rgb=False):
    """(value - mean) / std of each channel; both are a number or one for each channel.

    >>> paddle.vision.transforms.normalize(np.full([1, 1, 1], 5.0, "float32"), [1.0], [2.0]).tolist()
    [[[2.0]]]
    """
    shape = (-1, 1, 1) if data_format == "CHW" else (1, 1, -1)
    mean, std = (numpy.asarray(one, "float32").reshape(shape) if not is_number(one) else float(one) for one in (mean, std))
    if isinstance(img, Tensor):
        mean, std = (torch.from_numpy(one) if isinstance(one, numpy.ndarray) else one for one in (mean, std))
        return Tensor((img._torch - mean) / std)
    array = numpy.asarray(img, "float32")
    if to_rgb:
        array = array[::-1] if data_format == "CHW" else array[..., ::-1]
    return (array - mean) / std


def _target(img, size):
    height, width = size_of(img)
    if not isinstance(size, int):
        return int(size[0]), int(size[1])
    short, long = sorted((height, width))
    other = int(size * long / short)
    return (size, other) if height <= width else (other, size)


def resize(img, size, interpolation="bilinear"):
    """An image of size (height, width), or whose shorter side has `size`.

    >>> paddle.vision.transforms.resize(np.zeros([8, 16, 3], "uint8"), 4).shape
    (4, 8, 3)
    """
    height, width = _target(img, size)
    names = {"nearest": "NEAREST", "bilinear": "BILINEAR", "bicubic": "BICUBIC", "box": "BOX", "lanczos": "LANCZOS", "hamming": "HAMMING"}
    if interpolation not in names:
        raise InvalidArgumentError(f"resize: interpolation is one of {', '.join(names)}; found {interpolation!r}")
    method = getattr(_image().Resampling, names[interpolation])
    if _is_pil(img):
        return img.resize((width, height), method)
    array, back = _as_array(img)
    if array.dtype == numpy.uint8 and (array.ndim == 2 or array.shape[2] in (1, 3, 4)):
        plain = array[:, :, 0] if array.ndim == 3 and array.shape[2] == 1 else array
        scaled = numpy.asarray(_image().fromarray(plain).resize((width, height), method))
        return back(scaled.reshape(height, width, *array.shape[2:]))
    layers = numpy.atleast_3d(array).astype("float32")
    scaled = [numpy.asarray(_image().fromarray(layers[:, :, i]).resize((width, height), method)) for i in range(layers.shape[2])]
    return back(numpy.stack(scaled, 2).reshape(height, width, *array.shape[2:]).astype(array.dtype))


def crop(img, top, left, height, width):
    """The part of an image of this height and width, from the row `top` and the column `left` on.

    >>> paddle.vision.transforms.crop(np.arange(9, dtype="uint8").reshape(3, 3, 1), 1, 0, 1, 2)[..., 0].tolist()
    [[3, 4]]
    """
    if _is_pil(img):
        return img.crop((left, top, left + width, top + height))
    array, back = _as_array(img)
    return back(array[top : top + height, left : left + width])


def center_crop(img, output_size):
    """The middle of an image, of output_size: a number or (height, width).

    >>> paddle.vision.transforms.center_crop(np.zeros([4, 4, 3], "uint8"), 2).shape
    (2, 2, 3)
    """
    wanted = (output_size, output_size) if isinstance(output_size, int) else tuple(output_size)
    height, width = size_of(img)
    return crop(img, round((height - wanted[0]) / 2.0), round((width - wanted[1]) / 2.0), *wanted)


def pad(img, padding, fill=0, padding_mode="constant"):
    """An image with margins: a number; left and right, top and bottom; or left, top, right, bottom. padding_mode is constant, edge, reflect or symmetric.

    >>> paddle.vision.transforms.pad(np.zeros([2, 2, 3], "uint8"), [1, 0]).shape
    (2, 4, 3)
    """
    widths = [padding] * 4 if isinstance(padding, int) else list(padding) * 2 if len(padding) == 2 else list(padding)
    left, top, right, bottom = widths
    array, back = _as_array(img)
    modes = {"constant": "constant", "edge": "edge", "reflect": "reflect", "symmetric": "symmetric"}
    if padding_mode not in modes:
        raise InvalidArgumentError(f"pad: padding_mode is one of {', '.join(modes)}; found {padding_mode!r}")
    frame = [(top, bottom), (left, right)] + [(0, 0)] * (array.ndim - 2)
    options: Any = {"constant_values": fill} if padding_mode == "constant" and is_number(fill) else {}
    padded = numpy.pad(array, frame, modes[padding_mode], **options)  # pyright: ignore[reportCallIssue, reportArgumentType]
    if padding_mode == "constant" and not is_number(fill):
        inside = numpy.pad(numpy.ones(array.shape[:2], bool), frame[:2])
        padded[~inside] = fill
    return back(padded)


def hflip(img):
    """An image with left and right swapped.

    >>> paddle.vision.transforms.hflip(np.array([[1, 2]], "uint8")).tolist()
    [[2, 1]]
    """
    array, back = _as_array(img)
    return back(array[:, ::-1])


def vflip(img):
    """An image with top and bottom swapped.

    >>> paddle.vision.transforms.vflip(np.array([[1], [2]], "uint8")).tolist()
    [[2], [1]]
    """
    array, back = _as_array(img)
    return back(array[::-1])


def rotate(img, angle, interpolation="nearest", expand=False, center=None, fill=0):
    """An image turned against the clock, in degrees; expand makes it large enough to hold all, and fill is what is new.

    >>> paddle.vision.transforms.rotate(np.zeros([4, 6, 3], "uint8"), 90, expand=True).shape
    (6, 4, 3)
    """
    method = getattr(_image().Resampling, interpolation.upper())
    if _is_pil(img):
        return img.rotate(angle, method, expand, center, fillcolor=fill)
    array, back = _as_array(img)
    if array.dtype == numpy.uint8 and array.ndim == 3 and array.shape[2] == 3:
        return back(numpy.asarray(_image().fromarray(array).rotate(angle, method, expand, center, fillcolor=fill)))
    layers = [
        numpy.asarray(_image().fromarray(layer.astype("float32")).rotate(angle, method, expand, center, fillcolor=fill))
        for layer in numpy.moveaxis(numpy.atleast_3d(array), 2, 0)
    ]
    turned = numpy.stack(layers, 2).astype(array.dtype)
    return back(turned[:, :, 0] if array.ndim == 2 else turned)


def to_grayscale(img, num_output_channels=1):
    """An image in shades of grey, of 1 channel or 3.

    >>> paddle.vision.transforms.to_grayscale(np.zeros([4, 4, 3], "uint8")).shape
    (4, 4, 1)
    """
    array, back = _as_array(img)
    gray = array if array.ndim == 2 else (array[..., :3].astype("float32") @ _GRAY)
    gray = numpy.rint(gray).astype(array.dtype) if array.dtype == numpy.uint8 else gray.astype(array.dtype)
    if num_output_channels == 1:
        return back(gray if _is_pil(img) else gray[:, :, None])
    return back(numpy.stack([gray] * num_output_channels, 2))


def _mixed(img, other, factor):
    """other + factor * (img - other), within the range of the type."""
    array, back = _as_array(img)
    mixed = other(array.astype("float32")) * (1 - factor) + array.astype("float32") * factor
    return back(mixed.clip(0, 255).astype("uint8") if array.dtype == numpy.uint8 else mixed.astype(array.dtype))


def adjust_brightness(img, brightness_factor):
    """An image with its brightness times a factor: 0 is black.

    >>> paddle.vision.transforms.adjust_brightness(np.full([1, 1, 3], 100, "uint8"), 0.5).tolist()
    [[[50, 50, 50]]]
    """
    return _mixed(img, numpy.zeros_like, brightness_factor)


def _gray_of(array):
    return array if array.ndim == 2 else array[..., :3] @ _GRAY


def adjust_contrast(img, contrast_factor):
    """An image with its contrast times a factor: 0 is one grey.

    >>> paddle.vision.transforms.adjust_contrast(np.full([1, 1, 3], 100, "uint8"), 0.5).tolist()
    [[[100, 100, 100]]]
    """
    return _mixed(img, lambda array: numpy.full_like(array, numpy.rint(_gray_of(array).mean())), contrast_factor)


def adjust_saturation(img, saturation_factor):
    """An image with its saturation times a factor: 0 is shades of grey.

    >>> paddle.vision.transforms.adjust_saturation(np.full([1, 1, 3], 100, "uint8"), 0.5).tolist()
    [[[100, 100, 100]]]
    """
    return _mixed(img, lambda array: numpy.broadcast_to(_gray_of(array)[..., None], array.shape) if array.ndim == 3 else array, saturation_factor)


def adjust_hue(img, hue_factor):
    """An image with its colours turned by hue_factor, from -0.5 to 0.5 of the circle of colours.

    >>> paddle.vision.transforms.adjust_hue(np.array([[[255, 0, 0]]], "uint8"), 0.5).tolist()
    [[[0, 255, 252]]]
    """
    if not -0.5 <= hue_factor <= 0.5:
        raise InvalidArgumentError(f"adjust_hue: hue_factor is from -0.5 to 0.5; found {hue_factor}")
    array, back = _as_array(img)
    eight = array if array.dtype == numpy.uint8 else (array * 255).astype("uint8")
    hsv = numpy.array(_image().fromarray(eight).convert("HSV"))
    hsv[..., 0] += numpy.uint8(int(hue_factor * 255) % 256)
    turned = numpy.asarray(_image().fromarray(hsv, "HSV").convert("RGB"))
    return back(turned if array.dtype == numpy.uint8 else (turned / 255.0).astype(array.dtype))


def erase(img, i, j, h, w, v, inplace=False):
    """An image or tensor with `v` in the rectangle of height h and width w at row i and column j; in place where inplace.

    >>> paddle.vision.transforms.erase(np.ones([2, 2, 1], "uint8"), 0, 0, 1, 1, 0)[..., 0].tolist()
    [[0, 1], [1, 1]]
    """
    array, back = _as_array(img)
    array = array if inplace and isinstance(img, numpy.ndarray) else numpy.array(array)
    array[i : i + h, j : j + w] = v
    return back(array)
