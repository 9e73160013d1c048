"""The tensor functions of argosy.dynamic that argosy.tensor does not define."""

from argosy.building.contractions import einsum, tensordot  # noqa: F401
from argosy.building.counting import *  # noqa: F403
from argosy.building.elementwise import *  # noqa: F403
from argosy.building.positions import *  # noqa: F403
from argosy.building.reductions import *  # noqa: F403
from argosy.building.shapes import *  # noqa: F403
from argosy.building.special import *  # noqa: F403
