"""The functions of argosy.dynamic.functional that argosy.nn.functional.both_graphs does not define."""

from argosy.building.functional.activation import *  # noqa: F403
from argosy.building.functional.common import *  # noqa: F403
from argosy.building.functional.further import *  # noqa: F403
from argosy.building.functional.images import *  # noqa: F403
from argosy.building.functional.losses import *  # noqa: F403
from argosy.building.functional.norm import *  # noqa: F403
from argosy.building.functional.volumes import *  # noqa: F403
