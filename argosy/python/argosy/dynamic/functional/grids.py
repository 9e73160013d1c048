"""Images by coordinates, and frames of videos by time."""

import torch
from torch.nn import functional

from argosy.dynamic.calls import computes
from argosy.dynamic.functional.formats import channels_behind
from argosy.dynamic.sizes import sizes
from argosy.errors import InvalidArgumentError


def _one_of(value, known, what):
    if value not in known:
        raise InvalidArgumentError(f"{what} is {' or '.join(map(repr, known))}; found {value!r}")


@computes
def affine_grid(theta, out_shape, align_corners=True, name=None):
    """Where each pixel of an image of `out_shape` comes from: [batch, height, width, 2], in coordinates from -1 to 1.

    `theta` is [batch, 2, 3]: a matrix and a shift for each image; [batch, 3, 4] for volumes.

    >>> F.affine_grid(paddle.to_tensor([[[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]]), [1, 1, 2, 2]).tolist()
    [[[[-1.0, -1.0], [1.0, -1.0]], [[-1.0, 1.0], [1.0, 1.0]]]]
    """
    if not isinstance(theta, torch.Tensor):
        raise InvalidArgumentError(f"affine_grid: theta is a Tensor; found {type(theta).__name__}")
    shape = sizes(out_shape)
    if theta.dim() != 3 or tuple(theta.shape[1:]) != ((2, 3) if len(shape) == 4 else (3, 4)) or len(shape) not in (4, 5):
        raise InvalidArgumentError(
            f"affine_grid: theta is [batch, 2, 3] for an out_shape of 4 sizes and [batch, 3, 4] for one of 5; found {list(theta.shape)} and {shape}"
        )
    return functional.affine_grid(theta, shape, align_corners=bool(align_corners))


@computes
def grid_sample(x, grid, mode="bilinear", padding_mode="zeros", align_corners=True, name=None):
    """The image's values at the coordinates of `grid`, which are from -1 to 1; padding_mode says what is outside: zeros, reflection or border.

    >>> image = paddle.to_tensor([[[[0.0, 1.0], [2.0, 3.0]]]])
    >>> F.grid_sample(image, paddle.to_tensor([[[[0.0, 0.0]]]])).item()
    1.5
    """
    _one_of(mode, ("bilinear", "nearest"), "grid_sample: mode")
    _one_of(padding_mode, ("zeros", "reflection", "border"), "grid_sample: padding_mode")
    if not isinstance(align_corners, bool):
        raise InvalidArgumentError(f"grid_sample: align_corners is True or False; found {align_corners!r}")
    return functional.grid_sample(x, grid, mode, padding_mode, align_corners)


@computes
def temporal_shift(x, seg_num, shift_ratio=0.25, name=None, data_format="NCHW"):
    """Frames with a share of the channels from the frame before, and as large a one from the frame after; `seg_num` frames are one video.

    >>> F.temporal_shift(paddle.ones([2, 4, 1, 1]), seg_num=2).flatten().tolist()
    [0.0, 1.0, 1.0, 1.0, 1.0, 0.0, 1.0, 1.0]
    """
    behind = channels_behind(data_format, "temporal_shift", 2)
    if not isinstance(seg_num, int) or seg_num < 1 or len(x) % seg_num:
        raise InvalidArgumentError(f"temporal_shift: seg_num is a whole number that {len(x)} frames can be divided by; found {seg_num!r}")
    if not 0 < shift_ratio < 0.5:
        raise InvalidArgumentError(f"temporal_shift: shift_ratio is above 0 and below 0.5; found {shift_ratio}")
    image = x.movedim(-1, 1) if behind else x
    video = image.reshape(-1, seg_num, *image.shape[1:])
    one, two = int(image.shape[1] * shift_ratio), int(image.shape[1] * 2 * shift_ratio)
    edge = torch.zeros_like(video[:, :1])
    before = torch.cat([edge, video[:, :-1]], 1)[:, :, :one]
    after = torch.cat([video[:, 1:], edge], 1)[:, :, one:two]
    found = torch.cat([before, after, video[:, :, two:]], 2).reshape(image.shape)
    return found.movedim(1, -1) if behind else found


@computes
def gather_tree(ids, parents, name=None):
    """Whole sequences of a beam search: from each beam of the last step back along its parents. Both are [time, batch, beam].

    >>> ids = paddle.to_tensor([[[2, 5]], [[6, 1]]])
    >>> F.gather_tree(ids, paddle.to_tensor([[[0, 0]], [[1, 0]]])).tolist()
    [[[5, 2]], [[6, 1]]]
    """
    if ids.dim() != 3 or parents.shape != ids.shape:
        raise InvalidArgumentError(f"gather_tree: ids and parents are [time, batch, beam]; found {list(ids.shape)} and {list(parents.shape)}")
    beam = torch.arange(ids.shape[2], device=ids.device).expand(ids.shape[1:])
    steps = []
    for step in reversed(range(ids.shape[0])):
        steps.append(ids[step].gather(1, beam))
        beam = parents[step].long().gather(1, beam)
    return torch.stack(steps[::-1])
