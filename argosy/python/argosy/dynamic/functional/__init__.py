"""paddle.nn.functional on tensors."""

from argosy.dynamic.calls import functions_of
from argosy.dynamic.functional import (
    activation,
    common,
    convolution,
    folding,
    grids,
    hierarchical,
    likelihood,
    loss,
    margins,
    norm,
    pooling,
    unpooling,
)
from argosy.dynamic.functional.activation import *  # noqa: F403
from argosy.dynamic.functional.common import *  # noqa: F403
from argosy.dynamic.functional.convolution import *  # noqa: F403
from argosy.dynamic.functional.folding import *  # noqa: F403
from argosy.dynamic.functional.grids import *  # noqa: F403
from argosy.dynamic.functional.hierarchical import *  # noqa: F403
from argosy.dynamic.functional.likelihood import *  # noqa: F403
from argosy.dynamic.functional.loss import *  # noqa: F403
from argosy.dynamic.functional.margins import *  # noqa: F403
from argosy.dynamic.functional.norm import *  # noqa: F403
from argosy.dynamic.functional.pooling import *  # noqa: F403
from argosy.dynamic.functional.unpooling import *  # noqa: F403

_TABLE = functions_of(activation, common, convolution, folding, grids, hierarchical, likelihood, loss, margins, norm, pooling, unpooling)
__all__ = sorted(_TABLE)  # pyright: ignore[reportUnsupportedDunderAll]
