"""`python -m argosy.ray`: a job of a script or program as it stands, on Ray."""

import sys

from argosy.ray.launching import main

sys.exit(main())
