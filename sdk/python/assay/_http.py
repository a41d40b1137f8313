# SPDX-License-Identifier: Apache-2.0
"""HTTP/1.1 to one node: connections that are kept, timeouts, and a limit on what an answer may have."""
import http.client
import json
import random
import ssl
import threading
import urllib.parse
from typing import Any, Dict, List, Optional, Tuple

from .errors import AssayError, ConnectionFailed, ProtocolError, rpc_error

MAX_ANSWER_BYTES = 64 * 1024 * 1024
KEPT_CONNECTIONS = 8


class Busy(ConnectionFailed):
    """The node has no place for a connection now (503), or this client calls too often (429); says when to come again."""

    def __init__(self, retry_after_s: Optional[float], why: str = "the node answers 503: it has no place now, or is stopping") -> None:
        super().__init__(why)
        self.retry_after_s = retry_after_s


class NotSent(ConnectionFailed):
    """There was no connection, so the node cannot have seen anything."""


def backoff_s(attempt: int) -> float:
    """0.1 s, 0.2 s, ... at most 5 s, each up to a half longer so that many clients do not come back at once."""
    return float(min(5.0, 0.1 * 2**min(attempt, 10)) * random.uniform(1.0, 1.5))


class Endpoint:
    """A node's URL, and connections to it that several threads share."""

    def __init__(self, url: str, timeout: float, context: Optional[ssl.SSLContext] = None, token: Optional[str] = None) -> None:
        parts = urllib.parse.urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname or parts.query or parts.fragment or parts.username:
            raise ValueError(f"{url!r} is not the URL of a node, such as http://127.0.0.1:26600")
        self.url, self.timeout = url, timeout
        self._parts, self._context = parts, context
        self._headers: Dict[str, str] = {} if token is None else {"Authorization": f"Bearer {token}"}
        self._path = parts.path.rstrip("/")
        self._idle: List[http.client.HTTPConnection] = []
        self._lock = threading.Lock()

    def connect(self, timeout: Optional[float] = None) -> http.client.HTTPConnection:
        """A new connection. Raises NotSent."""
        limit = self.timeout if timeout is None else timeout
        host = self._parts.hostname or ""
        if self._parts.scheme == "https":
            connection: http.client.HTTPConnection = http.client.HTTPSConnection(
                host, self._parts.port, timeout=limit, context=self._context or ssl.create_default_context())
        else:
            connection = http.client.HTTPConnection(host, self._parts.port, timeout=limit)
        try:
            connection.connect()
        except (OSError, http.client.HTTPException) as error:
            connection.close()
            raise NotSent(f"nobody answers at {self.url}: {error}") from error
        return connection

    def post(self, message: Any, timeout: float, is_fresh: bool) -> Any:
        """The JSON of an answer. `is_fresh` takes no connection that was kept, whose end may be closed already."""
        connection = None if is_fresh else self._take()
        if connection is None:
            connection = self.connect(timeout)
        elif connection.sock is not None:
            connection.sock.settimeout(timeout)
        is_whole = False
        try:
            connection.request("POST", self._path + "/", json.dumps(message).encode(),
                               {"Content-Type": "application/json", **self._headers})
            answer = connection.getresponse()
            body = answer.read(MAX_ANSWER_BYTES + 1)
            is_whole = len(body) <= MAX_ANSWER_BYTES and not answer.will_close
            return decode_answer(answer.status, answer.headers.get("Retry-After"), body)
        except (OSError, http.client.HTTPException) as error:
            raise ConnectionFailed(f"the connection to {self.url} broke: {error or type(error).__name__}") from error
        finally:
            self._give_back(connection) if is_whole else connection.close()

    def open_stream(self, query: Dict[str, str], timeout: float) -> Tuple[http.client.HTTPConnection, http.client.HTTPResponse]:
        """A stream of server-sent events. Raises what the node's refusal says."""
        connection = self.connect(timeout)
        try:
            connection.request("GET", f"{self._path}/events?{urllib.parse.urlencode(query)}",
                               headers={"Accept": "text/event-stream", **self._headers})
            answer = connection.getresponse()
            if answer.status != 200:
                refusal = decode_answer(answer.status, answer.headers.get("Retry-After"), answer.read(1 << 20))
                raise rpc_error(refusal.get("error") if isinstance(refusal, dict) else None)
            if not (answer.headers.get("Content-Type") or "").startswith("text/event-stream"):
                raise ProtocolError("the answer is no stream of events")
            return connection, answer
        except (OSError, http.client.HTTPException) as error:
            connection.close()
            raise ConnectionFailed(f"the connection to {self.url} broke: {error or type(error).__name__}") from error
        except AssayError:
            connection.close()
            raise

    def close(self) -> None:
        with self._lock:
            idle, self._idle = self._idle, []
        for connection in idle:
            connection.close()

    def _take(self) -> Optional[http.client.HTTPConnection]:
        with self._lock:
            return self._idle.pop() if self._idle else None

    def _give_back(self, connection: http.client.HTTPConnection) -> None:
        with self._lock:
            if len(self._idle) < KEPT_CONNECTIONS:
                self._idle.append(connection)
                return
        connection.close()


def too_many(answer: Any) -> Busy:
    """What the refusal of a call that came too early says: it was not executed, a submission neither."""
    error = answer.get("error") if isinstance(answer, dict) else None
    data = error.get("data") if isinstance(error, dict) else None
    wait_ms = data.get("retry_after_ms") if isinstance(data, dict) else None
    message = error.get("message") if isinstance(error, dict) else None
    return Busy(wait_ms / 1000 if type(wait_ms) is int and 0 <= wait_ms <= 60_000 else None,
                str(message) if message else "the node answers 429: this client calls too often")


def decode_answer(status: int, retry_after: Optional[str], body: bytes) -> Any:
    """The JSON of an answer's body. Raises ProtocolError, or Busy for 503 and 429."""
    if len(body) > MAX_ANSWER_BYTES:
        raise ProtocolError(f"the answer has more than {MAX_ANSWER_BYTES} bytes")
    if status == 503:
        is_number = retry_after is not None and retry_after.isascii() and retry_after.isdigit() and len(retry_after) < 6
        raise Busy(float(retry_after) if retry_after is not None and is_number else None)
    try:
        answer = json.loads(body)
        if status == 429:
            raise too_many(answer)
        return answer
    except (ValueError, RecursionError):
        raise ProtocolError(f"the answer (HTTP {status}) is not JSON; it begins with {body[:80]!r}") from None
