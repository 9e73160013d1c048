"""Changes of images as objects. What is random comes from Python's random, as in Paddle."""

import math
import random
from collections.abc import Callable
from typing import Any

from argosy.errors import InvalidArgumentError
from argosy.vision.transforms import functional as F

__all__ = [
    "BaseTransform",
    "Compose",
    "ToTensor",
    "Normalize",
    "Transpose",
    "Resize",
    "CenterCrop",
    "RandomCrop",
    "RandomResizedCrop",
    "Pad",
    "RandomHorizontalFlip",
    "RandomVerticalFlip",
    "RandomRotation",
    "Grayscale",
    "BrightnessTransform",
    "ContrastTransform",
    "SaturationTransform",
    "HueTransform",
    "ColorJitter",
    "RandomErasing",
]


class Compose:
    """One change after another.

    >>> change = paddle.vision.transforms.Compose([paddle.vision.transforms.Resize(4), paddle.vision.transforms.ToTensor()])
    >>> change(np.zeros([8, 8, 3], "uint8")).shape
    [3, 4, 4]
    """

    def __init__(self, transforms):
        self.transforms = transforms

    def __call__(self, data):
        for transform in self.transforms:
            data = transform(data)
        return data

    def __repr__(self):
        return "Compose(\n    " + "\n    ".join(map(repr, self.transforms)) + "\n)"


class BaseTransform:
    """A change of an image. Of a tuple, keys say what each part is; those that are no 'image' stay unless the class has _apply_<key>.

    A subclass gives _apply_image(image), and _get_params(inputs) for what all parts of one sample share.

    >>> class Invert(paddle.vision.transforms.BaseTransform):
    ...     def _apply_image(self, image):
    ...         return 255 - image
    >>> Invert()(np.zeros([1, 1], "uint8")).tolist()
    [[255]]
    """

    def __init__(self, keys=None):
        self.keys = ("image",) if keys is None else tuple(keys)
        self.params = None

    def _get_params(self, inputs):
        return None

    def _apply_image(self, image):
        raise NotImplementedError(f"{type(self).__name__} has no _apply_image(image)")

    def __call__(self, inputs):
        parts = inputs if isinstance(inputs, tuple) else (inputs,)
        self.params = self._get_params(parts)
        changed = [getattr(self, f"_apply_{key}", lambda value: value)(part) for key, part in zip(self.keys, parts)]
        changed += parts[len(self.keys) :]
        return tuple(changed) if isinstance(inputs, tuple) else changed[0]


class ToTensor(BaseTransform):
    """An image as a float32 tensor, channels first unless data_format is 'HWC'; values of 8 bits become 0 to 1.

    >>> paddle.vision.transforms.ToTensor()(np.full([2, 2, 3], 255, "uint8")).shape
    [3, 2, 2]
    """

    def __init__(self, data_format="CHW", keys=None):
        super().__init__(keys)
        self.data_format = data_format

    def _apply_image(self, img):
        return F.to_tensor(img, self.data_format)


class Normalize(BaseTransform):
    """(value - mean) / std of each channel; both are a number or one for each channel.

    >>> paddle.vision.transforms.Normalize(mean=1.0, std=2.0)(np.full([3, 1, 1], 5.0, "float32")).tolist()
    [[[2.0]], [[2.0]], [[2.0]]]
    """

    def __init__(self, mean=0.0, std=1.0, data_format="CHW", to_rgb=False, keys=None):
        super().__init__(keys)
        self.mean = [mean] * 3 if F.is_number(mean) else mean
        self.std = [std] * 3 if F.is_number(std) else std
        self.data_format, self.to_rgb = data_format, to_rgb

    def _apply_image(self, img):
        return F.normalize(img, self.mean, self.std, self.data_format, self.to_rgb)


class Transpose(BaseTransform):
    """The axes in another order, as an array.

    >>> paddle.vision.transforms.Transpose()(np.zeros([4, 5, 3], "uint8")).shape
    (3, 4, 5)
    """

    def __init__(self, order=(2, 0, 1), keys=None):
        super().__init__(keys)
        self.order = order

    def _apply_image(self, img):
        import numpy

        array = img.numpy() if hasattr(img, "numpy") else numpy.asarray(img)
        return (array[..., None] if array.ndim == 2 else array).transpose(self.order)


class Resize(BaseTransform):
    """An image of size (height, width), or whose shorter side has `size`.

    >>> paddle.vision.transforms.Resize(4)(np.zeros([8, 16, 3], "uint8")).shape
    (4, 8, 3)
    """

    def __init__(self, size, interpolation="bilinear", keys=None):
        super().__init__(keys)
        self.size, self.interpolation = size, interpolation

    def _apply_image(self, img):
        return F.resize(img, self.size, self.interpolation)


class CenterCrop(BaseTransform):
    """The middle of an image, of `size`: a number or (height, width).

    >>> paddle.vision.transforms.CenterCrop(2)(np.arange(16, dtype="uint8").reshape(4, 4, 1))[..., 0].tolist()
    [[5, 6], [9, 10]]
    """

    def __init__(self, size, keys=None):
        super().__init__(keys)
        self.size = size

    def _apply_image(self, img):
        return F.center_crop(img, self.size)


class Pad(BaseTransform):
    """An image with margins: a number; left and right, top and bottom; or left, top, right, bottom. padding_mode is constant, edge, reflect or symmetric.

    >>> paddle.vision.transforms.Pad(1)(np.zeros([2, 2, 3], "uint8")).shape
    (4, 4, 3)
    """

    def __init__(self, padding, fill=0, padding_mode="constant", keys=None):
        super().__init__(keys)
        self.padding, self.fill, self.padding_mode = padding, fill, padding_mode

    def _apply_image(self, img):
        return F.pad(img, self.padding, self.fill, self.padding_mode)


class RandomCrop(BaseTransform):
    """A part of `size` from a random place; `padding` is added first, and more where the image is too small and pad_if_needed.

    >>> paddle.vision.transforms.RandomCrop(2)(np.zeros([4, 4, 3], "uint8")).shape
    (2, 2, 3)
    """

    def __init__(self, size, padding=None, pad_if_needed=False, fill=0, padding_mode="constant", keys=None):
        super().__init__(keys)
        self.size = (size, size) if isinstance(size, int) else tuple(size)
        self.padding, self.pad_if_needed, self.fill, self.padding_mode = padding, pad_if_needed, fill, padding_mode

    def _padded(self, img):
        if self.padding is not None:
            img = F.pad(img, self.padding, self.fill, self.padding_mode)
        height, width = F.size_of(img)
        if self.pad_if_needed and (width < self.size[1] or height < self.size[0]):
            img = F.pad(img, (max(0, self.size[1] - width), max(0, self.size[0] - height)), self.fill, self.padding_mode)
        return img

    def _apply_image(self, img):
        img = self._padded(img)
        height, width = F.size_of(img)
        if height < self.size[0] or width < self.size[1]:
            raise InvalidArgumentError(f"RandomCrop: {self.size[0]}x{self.size[1]} of an image of {height}x{width}; use pad_if_needed=True")
        return F.crop(img, random.randint(0, height - self.size[0]), random.randint(0, width - self.size[1]), *self.size)


class RandomResizedCrop(BaseTransform):
    """A part of random size and shape, within the shares `scale` of the area and the ratios of its sides, scaled to `size`.

    >>> paddle.vision.transforms.RandomResizedCrop(2)(np.zeros([4, 4, 3], "uint8")).shape
    (2, 2, 3)
    """

    def __init__(self, size, scale=(0.08, 1.0), ratio=(3.0 / 4, 4.0 / 3), interpolation="bilinear", keys=None):
        super().__init__(keys)
        self.size = (size, size) if isinstance(size, int) else tuple(size)
        self.scale, self.ratio, self.interpolation = scale, ratio, interpolation

    def _part(self, height, width):
        for _ in range(10):
            area = random.uniform(*self.scale) * height * width
            shape = math.exp(random.uniform(math.log(self.ratio[0]), math.log(self.ratio[1])))
            w, h = round(math.sqrt(area * shape)), round(math.sqrt(area / shape))
            if 0 < w <= width and 0 < h <= height:
                return random.randint(0, height - h), random.randint(0, width - w), h, w
        side = min(height, width)
        return (height - side) // 2, (width - side) // 2, side, side

    def _apply_image(self, img):
        return F.resize(F.crop(img, *self._part(*F.size_of(img))), self.size, self.interpolation)


class RandomHorizontalFlip(BaseTransform):
    """An image with left and right swapped, with probability prob.

    >>> paddle.vision.transforms.RandomHorizontalFlip(1.0)(np.array([[1, 2]], "uint8")).tolist()
    [[2, 1]]
    """

    _flip = staticmethod(F.hflip)

    def __init__(self, prob=0.5, keys=None):
        super().__init__(keys)
        self.prob = prob

    def _get_params(self, inputs):
        return random.random() < self.prob

    def _apply_image(self, img):
        return self._flip(img) if self.params else img


class RandomVerticalFlip(RandomHorizontalFlip):
    """An image with top and bottom swapped, with probability prob.

    >>> paddle.vision.transforms.RandomVerticalFlip(1.0)(np.array([[1], [2]], "uint8")).tolist()
    [[2], [1]]
    """

    _flip = staticmethod(F.vflip)


class RandomRotation(BaseTransform):
    """An image turned by a random angle within `degrees`, a number or a range; expand makes it large enough to hold all, and fill is what is new.

    >>> paddle.vision.transforms.RandomRotation(30)(np.zeros([4, 4, 3], "uint8")).shape
    (4, 4, 3)
    """

    def __init__(self, degrees, interpolation="nearest", expand=False, center=None, fill=0, keys=None):
        super().__init__(keys)
        self.degrees = (-degrees, degrees) if F.is_number(degrees) else tuple(degrees)
        self._arguments = (interpolation, expand, center, fill)

    def _get_params(self, inputs):
        return random.uniform(*self.degrees)

    def _apply_image(self, img):
        return F.rotate(img, self.params, *self._arguments)


class Grayscale(BaseTransform):
    """An image in shades of grey, of 1 channel or 3.

    >>> paddle.vision.transforms.Grayscale()(np.zeros([4, 4, 3], "uint8")).shape
    (4, 4, 1)
    """

    def __init__(self, num_output_channels=1, keys=None):
        super().__init__(keys)
        self.num_output_channels = num_output_channels

    def _apply_image(self, img):
        return F.to_grayscale(img, self.num_output_channels)


class _Adjust(BaseTransform):
    """A factor from 1 - value to 1 + value."""

    _function: Callable[..., Any]
    _middle, _most = 1.0, math.inf

    def __init__(self, value, keys=None):
        super().__init__(keys)
        if F.is_number(value):
            if not 0 <= value <= self._most:
                raise InvalidArgumentError(f"{type(self).__name__}: value is 0 or more, up to {self._most}; found {value}")
            low = self._middle - value
            self.value = (max(low, 0.0) if self._middle else low, self._middle + value)
        else:
            self.value = tuple(value)

    def _apply_image(self, img):
        return self._function(img, random.uniform(*self.value)) if self.value[0] != self.value[1] else img


class BrightnessTransform(_Adjust):
    """Brightness times a random factor within `value` of 1.

    >>> paddle.vision.transforms.BrightnessTransform(0.4)(np.zeros([2, 2, 3], "uint8")).shape
    (2, 2, 3)
    """

    _function = staticmethod(F.adjust_brightness)


class ContrastTransform(_Adjust):
    """Contrast times a random factor within `value` of 1.

    >>> paddle.vision.transforms.ContrastTransform(0.4)(np.zeros([2, 2, 3], "uint8")).shape
    (2, 2, 3)
    """

    _function = staticmethod(F.adjust_contrast)


class SaturationTransform(_Adjust):
    """Saturation times a random factor within `value` of 1.

    >>> paddle.vision.transforms.SaturationTransform(0.4)(np.zeros([2, 2, 3], "uint8")).shape
    (2, 2, 3)
    """

    _function = staticmethod(F.adjust_saturation)


class HueTransform(_Adjust):
    """Colours turned by up to `value`, at most 0.5, of the circle of colours.

    >>> paddle.vision.transforms.HueTransform(0.4)(np.zeros([2, 2, 3], "uint8")).shape
    (2, 2, 3)
    """

    _function, _middle, _most = staticmethod(F.adjust_hue), 0.0, 0.5


class ColorJitter(BaseTransform):
    """Random brightness, contrast, saturation and hue, in random order; each as in the class of its own.

    >>> paddle.vision.transforms.ColorJitter(0.4, 0.4, 0.4, 0.1)(np.zeros([2, 2, 3], "uint8")).shape
    (2, 2, 3)
    """

    def __init__(self, brightness=0, contrast=0, saturation=0, hue=0, keys=None):
        super().__init__(keys)
        self._parts = [BrightnessTransform(brightness), ContrastTransform(contrast), SaturationTransform(saturation), HueTransform(hue)]

    def _apply_image(self, img):
        for part in random.sample(self._parts, len(self._parts)):
            img = part(img)
        return img


class RandomErasing(BaseTransform):
    """With probability prob a random rectangle becomes `value`, within the shares `scale` of the area and the ratios of its sides.

    >>> paddle.vision.transforms.RandomErasing(1.0)(paddle.ones([3, 8, 8])).shape
    [3, 8, 8]
    """

    def __init__(self, prob=0.5, scale=(0.02, 0.33), ratio=(0.3, 3.3), value=0, inplace=False, keys=None):
        super().__init__(keys)
        self.prob, self.value, self.inplace = prob, value, inplace
        self._part = RandomResizedCrop(1, scale, ratio)._part

    def _apply_image(self, img):
        if random.random() >= self.prob:
            return img
        return F.erase(img, *self._part(*F.size_of(img)), self.value, self.inplace)
