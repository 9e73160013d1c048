"""paddle.vision.transforms: changes of images, as classes and, in functional, as functions."""
from argosy import _lazy

_CLASSES = ("BaseTransform Compose ToTensor Normalize Transpose Resize CenterCrop RandomCrop RandomResizedCrop Pad RandomHorizontalFlip "
            "RandomVerticalFlip RandomRotation Grayscale BrightnessTransform ContrastTransform SaturationTransform HueTransform ColorJitter RandomErasing")
_FUNCTIONS = ("to_tensor normalize resize crop center_crop pad hflip vflip rotate to_grayscale adjust_brightness adjust_contrast adjust_saturation "
              "adjust_hue erase")

__getattr__, __dir__ = _lazy.names(__name__, ("transforms", "functional"), {**{name: "transforms" for name in _CLASSES.split()},
                                                                          **{name: "functional" for name in _FUNCTIONS.split()}})
