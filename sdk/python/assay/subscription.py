# SPDX-License-Identifier: Apache-2.0
"""Subscriptions by server-sent events that go on where they stopped, and notice what is missing."""
import http.client
import json
import socket
import time
from typing import Any, Callable, Dict, Iterator, List, Literal, Optional, TypedDict, Union, cast

from . import _http
from .errors import ConnectionFailed, GapError, ProtocolError, Unavailable, rpc_error

# The node writes a comment every 15 s, so silence of three times as long is a connection that is gone.
SILENCE_S = 45.0
MAX_EVENT_BYTES = 16 * 1024 * 1024
ITEM_BITS = 24  # a sequence number is height * 2^24 + the item's place in its block (docs/rpc.md)


class Message(TypedDict):
    """`kind` says what `data` is: the head of a block, a TxSummary or an Event."""
    topic: str
    seq: int
    prev: Optional[int]
    kind: Literal["block", "tx", "event"]
    data: Dict[str, Any]


class Subscription:
    """An iterator over messages. `last` is the sequence number to resume from; close() ends it, from any thread."""

    def __init__(self, endpoint: "_http.Endpoint", query: Dict[str, str], after: Optional[int], patience: float,
                 height: Callable[[], int]) -> None:
        self._endpoint, self._query, self._patience = endpoint, query, patience
        if after is None:
            # A place right behind the present block. Without one, a connection that breaks before the first message would
            # silently miss what came in between.
            after = (height() + 1 << ITEM_BITS) - 1
        self.last: int = after
        self._is_closed = False
        self._alive_at = time.monotonic()  # when something last came
        self._connection: Optional[http.client.HTTPConnection] = None
        self._messages = self._run()

    def __iter__(self) -> "Subscription":
        return self

    def __next__(self) -> Message:
        return next(self._messages)

    def __enter__(self) -> "Subscription":
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    def close(self) -> None:
        self._is_closed = True
        connection = self._connection
        if connection is not None and connection.sock is not None:
            try:
                connection.sock.shutdown(socket.SHUT_RDWR)  # wakes a thread that waits for the next message
            except OSError:
                pass

    def _run(self) -> Iterator[Message]:
        failures = 0
        while not self._is_closed:
            error: Union[ConnectionFailed, Unavailable]
            try:
                for message in self._stream():
                    failures = 0
                    yield message
                continue
            except ConnectionFailed as failure:
                error = failure
            except Unavailable as refusal:
                if refusal.first_height is not None:
                    raise
                error = refusal  # the node is stopping
            if self._is_closed:
                return
            if time.monotonic() - self._alive_at > self._patience:
                raise error
            wait = error.retry_after_s if isinstance(error, _http.Busy) else None
            time.sleep(min(30.0, _http.backoff_s(failures) if wait is None else wait))
            failures += 1

    def _stream(self) -> Iterator[Message]:
        """Messages of one connection, and ConnectionFailed at its end."""
        connection, answer = self._endpoint.open_stream({**self._query, "after": str(self.last)}, SILENCE_S)
        self._connection = connection
        sock = connection.sock
        try:
            for event in self._events(answer):
                yield self._take(event)
            raise ConnectionFailed("the node ended the stream")
        except (OSError, http.client.HTTPException, ValueError) as error:
            raise ConnectionFailed(f"the stream broke: {error or type(error).__name__}") from error
        finally:
            self._connection = None
            answer.close()
            connection.close()
            if sock is not None:
                sock.close()

    def _events(self, answer: http.client.HTTPResponse) -> Iterator[Dict[str, str]]:
        fields: Dict[str, str] = {}
        lines: List[str] = []
        size = 0
        while not self._is_closed:
            line = answer.readline(MAX_EVENT_BYTES + 1)
            if not line:
                return
            self._alive_at = time.monotonic()
            size += len(line)
            if size > MAX_EVENT_BYTES:
                raise ProtocolError(f"an event has more than {MAX_EVENT_BYTES} bytes")
            text = line.decode("utf-8", "replace").rstrip("\r\n")
            if text:
                name, _, value = text.partition(":")
                value = value[1:] if value.startswith(" ") else value
                lines += [value] if name == "data" else []
                fields.update({name: value} if name and name != "data" else {})
                continue
            if lines:
                yield {**fields, "data": "\n".join(lines)}
            fields, size, lines = {}, 0, []

    def _take(self, event: Dict[str, str]) -> Message:
        try:
            message = json.loads(event["data"])
        except (ValueError, RecursionError):
            raise ProtocolError("an event's data is not JSON") from None
        if event.get("event") == "error":
            raise rpc_error(message.get("error", message) if isinstance(message, dict) else None)
        if not isinstance(message, dict) or type(message.get("seq")) is not int or not isinstance(message.get("data"), dict):
            raise ProtocolError("an event is no message of a subscription")
        prev, seq = message.get("prev"), message["seq"]
        if prev != (self.last or None) or seq <= self.last:
            raise GapError(self.last or None, prev, seq)
        self.last = seq
        return cast(Message, message)

