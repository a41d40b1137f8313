# SPDX-License-Identifier: Apache-2.0
"""What can go wrong, one class for each kind, all of them AssayError."""
from typing import Any, Dict, Mapping, Optional


class AssayError(Exception):
    """Anything that this package raises by itself."""


class ConnectionFailed(AssayError):
    """Nobody answered, or the connection broke before the answer was whole."""


class ProtocolError(AssayError):
    """The answer is not what JSON-RPC and docs/rpc.md allow: the node is broken, lies, or is no Assay node."""


class GapError(AssayError):
    """A subscription's message does not follow the one before: something was left out, or told twice.

    `last` is the sequence number of the last message that was passed on, and `prev` and `seq` are those of the message that
    does not follow it.
    """

    def __init__(self, last: Optional[int], prev: Optional[int], seq: int) -> None:
        super().__init__(f"message {seq} says that it follows {prev}, and the last one was {last}: messages are missing; "
                         "subscribe again with after, at another node if this one repeats it")
        self.last, self.prev, self.seq = last, prev, seq


class RpcError(AssayError):
    """The node refused a call: `code` and `name` as in docs/rpc.md, `hint` says what to do, `data` has all of it."""

    def __init__(self, code: int, message: str, data: Mapping[str, Any]) -> None:
        self.code = code
        self.message = message
        self.data: Dict[str, Any] = dict(data)
        self.name = str(self.data.get("name", ""))
        self.hint = str(self.data.get("hint", ""))
        super().__init__(f"{self.name or code}: {message}" + (f" ({self.hint})" if self.hint else ""))


class ParseError(RpcError):
    """The node could not read the request as JSON."""


class InvalidRequest(RpcError):
    """The request is JSON, but not a call."""


class MethodNotFound(RpcError):
    """The node has no such method: it may be older than this package."""


class InvalidParams(RpcError):
    """A parameter is missing, unknown or wrong; the message names it."""


class InternalError(RpcError):
    """The node failed; its log has more."""


class NotFound(RpcError):
    """There is no such block, transaction, task or dispute."""


class Unavailable(RpcError):
    """The node is stopping, or does not have what belongs to this height; `first_height` is the first one that it has."""

    @property
    def first_height(self) -> Optional[int]:
        value = self.data.get("first_height")
        return value if isinstance(value, int) else None


class TxRejected(RpcError):
    """The transaction was refused: `tx_error` is the number of the rule's error and `reason` its word."""

    @property
    def tx_error(self) -> Optional[int]:
        value = self.data.get("tx_error")
        return value if isinstance(value, int) else None

    @property
    def reason(self) -> str:
        return str(self.data.get("reason", ""))


class LimitExceeded(RpcError):
    """The request asks for more than the node gives at once, or its mempool is full."""


class Unauthorized(RpcError):
    """The node answers only callers that send its token."""


class RateLimited(RpcError):
    """A call of a batch came too early: `retry_after_ms` says when to send it again."""

    @property
    def retry_after_ms(self) -> Optional[int]:
        value = self.data.get("retry_after_ms")
        return value if isinstance(value, int) else None


_BY_CODE = {-32700: ParseError, -32600: InvalidRequest, -32601: MethodNotFound, -32602: InvalidParams, -32603: InternalError,
            -32001: NotFound, -32002: Unavailable, -32003: TxRejected, -32004: Unauthorized, -32005: LimitExceeded,
            -32006: RateLimited}


def rpc_error(error: Any) -> RpcError:
    """The exception for the `error` member of an answer. Raises ProtocolError where it is not one."""
    if not isinstance(error, dict) or type(error.get("code")) is not int or not isinstance(error.get("message"), str):
        raise ProtocolError("the answer's error has no code or no message")
    data = error.get("data")
    return _BY_CODE.get(error["code"], RpcError)(error["code"], error["message"], data if isinstance(data, dict) else {})
