from .install_check import run_check as run_check
from .names import unique_name as unique_name
from .requirements import require_version as require_version
