# SPDX-License-Identifier: Apache-2.0
"""A client of Assay nodes (docs/operations/sdk.md): JSON-RPC, subscriptions, and the native core for what is signed or verified."""
from . import types
from .aio import AsyncClient, AsyncSubscription
from .client import Client
from .core import Core, CoreError, NotVerified, Refused, Server, Uncertain
from .errors import (AssayError, ConnectionFailed, GapError, InternalError, InvalidParams, InvalidRequest, LimitExceeded,
                     MethodNotFound, NotFound, ParseError, ProtocolError, RateLimited, RpcError, TxRejected, Unauthorized,
                     Unavailable)
from .progress import Progress, TaskWatch, lightning_callback, progress_of, trainer_callback
from .subscription import Message, Subscription
from .training import TaskFailed, Training, submit
from .units import GRAINS_PER_ASY, account_of, address_of, format_asy, to_asy, to_grains

__version__ = "0.2.0"
__all__ = [
    "AssayError", "AsyncClient", "AsyncSubscription", "Client", "ConnectionFailed", "Core", "CoreError", "GRAINS_PER_ASY", "GapError",
    "InternalError", "InvalidParams", "InvalidRequest", "LimitExceeded", "Message", "MethodNotFound", "NotFound", "NotVerified",
    "ParseError", "Progress", "ProtocolError", "RateLimited", "Refused", "RpcError", "Server", "Subscription", "TaskFailed",
    "TaskWatch", "Training", "TxRejected", "Unauthorized", "Unavailable", "Uncertain", "account_of", "address_of",
    "format_asy", "lightning_callback", "progress_of", "submit", "to_asy", "to_grains", "trainer_callback", "types",
]
