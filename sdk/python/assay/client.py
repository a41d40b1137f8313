# SPDX-License-Identifier: Apache-2.0
"""The node's JSON-RPC for programs that wait for each answer."""
import ssl
import time
from typing import Any, Callable, Dict, Iterator, List, Mapping, Optional, Sequence, Tuple, TypeVar, Union

from ._http import Busy, Endpoint, NotSent, backoff_s
from .errors import AssayError, ConnectionFailed, ProtocolError, RpcError, rpc_error
from .generated.methods import PAGES, SUBMITTING, Methods
from .subscription import Subscription

BATCH_MAX = 20
DEFAULT_URL = "http://127.0.0.1:26600"
Call = Tuple[str, Mapping[str, Any]]
T = TypeVar("T")


def _request(number: int, method: str, params: Optional[Mapping[str, Any]]) -> Dict[str, Any]:
    given = {key: value for key, value in (params or {}).items() if value is not None}
    return {"jsonrpc": "2.0", "id": number, "method": method, "params": given}


def _outcome(answer: Any) -> Tuple[Any, Union[Any, RpcError]]:
    """An answer's id, and its result or its error. Raises ProtocolError."""
    if not isinstance(answer, dict) or answer.get("jsonrpc") != "2.0" or ("result" in answer) == ("error" in answer):
        raise ProtocolError("the answer is not one of JSON-RPC 2.0")
    return answer.get("id"), rpc_error(answer["error"]) if "error" in answer else answer["result"]


class Client(Methods):
    """One method for each of the node's (`client.task_get(task)`), batches, listings and subscriptions.

    `timeout` is in seconds, for one attempt. `retries` says how often a call that reads is sent again when nobody answers
    or the connection breaks, and of any call that the node refuses since this client calls too often; `tx_submit` is sent
    again else only if there was no connection to send it over. `token` is that of the node, if it has one. What a node says is
    its word: assay.Core has the commands that verify it. Several threads may share a client.
    """

    def __init__(self, url: str = DEFAULT_URL, *, timeout: float = 30.0, retries: int = 3,
                 context: Optional[ssl.SSLContext] = None, token: Optional[str] = None) -> None:
        self.url, self.timeout, self.retries = url, timeout, retries
        self._endpoint = Endpoint(url, timeout, context, token)

    def __enter__(self) -> "Client":
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    def close(self) -> None:
        """Closes the connections that are kept. A client that was closed may be used again."""
        self._endpoint.close()

    def call(self, method: str, params: Optional[Mapping[str, Any]] = None) -> Any:
        """The result of any method. Parameters that are None are left out. Raises AssayError."""
        # chain_wait is answered when its own time has passed, which must not be a failure of the connection.
        waits_ms = (params or {}).get("timeout_ms") if method == "chain_wait" else 0
        extra_s = (10_000 if waits_ms is None else waits_ms) / 1000
        answer = self._post(_request(1, method, params), self.timeout + extra_s, method in SUBMITTING)
        number, outcome = _outcome(answer)
        if isinstance(outcome, RpcError):
            raise outcome
        if number != 1:
            raise ProtocolError("the answer belongs to another call")
        return outcome

    def batch(self, calls: Sequence[Call]) -> List[Any]:
        """Results in the order of `calls`, each of them (method, params); an RpcError stands in the place of one that failed.

        More than 20 calls are sent as several requests. Raises AssayError if a request as a whole fails.
        """
        if any(method == "chain_wait" for method, _ in calls):
            raise ValueError("chain_wait must not be in a batch")
        out: List[Any] = []
        for first in range(0, len(calls), BATCH_MAX):
            part = calls[first:first + BATCH_MAX]
            message = [_request(i, method, params) for i, (method, params) in enumerate(part)]
            answers = self._post(message, self.timeout, any(method in SUBMITTING for method, _ in part))
            if not isinstance(answers, list):
                _, outcome = _outcome(answers)
                raise outcome if isinstance(outcome, RpcError) else ProtocolError("a batch was answered by a single answer")
            by_number = dict(_outcome(answer) for answer in answers if isinstance(answer, dict) and isinstance(answer.get("id"), int))
            if sorted(by_number) != list(range(len(part))) or len(answers) != len(part):
                raise ProtocolError("the answers of a batch are not those of its calls")
            out += [by_number[i] for i in range(len(part))]
        return out

    def iterate(self, method: str, **params: Any) -> Iterator[Any]:  # type: ignore[override, unused-ignore]
        """Every item of a listing, page after page: `for task in client.iterate("task_list", state="settled")`."""
        if method not in PAGES:
            raise ValueError(f"{method} is no listing; these are: {', '.join(sorted(PAGES))}")
        seen = set()
        while True:
            page = self.call(method, params)
            cursor = page_cursor(method, page)
            yield from page[PAGES[method]]
            if cursor is None:
                return
            if cursor in seen:
                raise ProtocolError(f"the pages of {method} go round in a circle")
            seen.add(cursor)
            params = {**params, "cursor": cursor}

    def subscribe(self, topic: str, *, after: Optional[int] = None, account: Optional[str] = None, task: Optional[str] = None,
                  dispute: Optional[str] = None, patience: float = 60.0) -> Subscription:
        """Messages of a topic (docs/rpc.md, Push), by server-sent events: `for message in client.subscribe("blocks")`.

        `after` is the sequence number to go on behind, 0 for the first block; without it the messages begin with the block
        after the present one. The iterator connects again by itself and misses nothing; iterating raises GapError if the
        node left something out, Unavailable if the node has not kept what is next, and ConnectionFailed if there is no
        connection for `patience` seconds.
        """
        names = {"account": account, "task": task, "dispute": dispute}
        query = {"topic": topic, **{key: value for key, value in names.items() if value is not None}}
        return Subscription(self._endpoint, query, after, patience, lambda: self.node_status()["height"])

    def _post(self, message: Any, timeout: float, is_submission: bool) -> Any:
        def attempt(number: int) -> Any:
            return self._endpoint.post(message, timeout, is_fresh=is_submission or number > 0)
        return retried(attempt, self.retries, is_submission)


def page_cursor(method: str, page: Any) -> Optional[str]:
    """Where the next page begins. Raises ProtocolError where the page is not one."""
    if not isinstance(page, dict) or not isinstance(page.get(PAGES[method]), list):
        raise ProtocolError(f"the answer of {method} is no page")
    cursor = page.get("next_cursor")
    if cursor is not None and not isinstance(cursor, str):
        raise ProtocolError(f"the cursor of {method} is not a string")
    return cursor


def retried(attempt: Callable[[int], T], retries: int, is_submission: bool) -> T:
    for number in range(retries + 1):
        try:
            return attempt(number)
        except ConnectionFailed as error:
            may_repeat = isinstance(error, (NotSent, Busy)) or not is_submission
            if number == retries or not may_repeat:
                raise
            wait = error.retry_after_s if isinstance(error, Busy) and error.retry_after_s is not None else backoff_s(number)
            time.sleep(min(wait, 30.0))
    raise AssayError("retries must not be negative")
