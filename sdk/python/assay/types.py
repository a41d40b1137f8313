# SPDX-License-Identifier: Apache-2.0
"""The shapes of the node's answers, as TypedDicts: `from assay.types import Task`."""
from .generated.types import *  # noqa: F401, F403
from .subscription import Message  # noqa: F401
