# SPDX-License-Identifier: Apache-2.0
"""The same client for asyncio: each call runs on a thread of the client's own, so that the loop never waits."""
import asyncio
import concurrent.futures
import functools
from typing import Any, AsyncIterator, Callable, List, Mapping, Optional, Sequence

from .client import DEFAULT_URL, Call, Client, page_cursor
from .generated.methods import PAGES, AsyncMethods
from .subscription import Message, Subscription

THREADS = 8


class AsyncSubscription:
    """An asynchronous iterator over messages; cancelling the task that waits for one, or aclose(), ends it."""

    def __init__(self, open_subscription: Callable[[], Subscription]) -> None:
        self._open = open_subscription
        self._inner: Optional[Subscription] = None
        self._is_closed = False
        self._thread = concurrent.futures.ThreadPoolExecutor(1, thread_name_prefix="assay-subscription")

    @property
    def last(self) -> Optional[int]:
        """The sequence number to resume from; None before the first message was asked for."""
        return None if self._inner is None else self._inner.last

    def __aiter__(self) -> "AsyncSubscription":
        return self

    async def __anext__(self) -> Message:
        if self._is_closed:
            raise StopAsyncIteration
        try:
            message = await asyncio.get_running_loop().run_in_executor(self._thread, self._next)
        except BaseException:
            self._close()
            raise
        if message is None:
            self._close()
            raise StopAsyncIteration
        return message

    async def __aenter__(self) -> "AsyncSubscription":
        return self

    async def __aexit__(self, *_: Any) -> None:
        self._close()

    async def aclose(self) -> None:
        self._close()

    def _next(self) -> Optional[Message]:
        if self._inner is None:
            self._inner = self._open()
        return None if self._is_closed else next(self._inner, None)

    def _close(self) -> None:
        self._is_closed = True
        if self._inner is not None:
            self._inner.close()
        self._thread.shutdown(wait=False)


class AsyncClient(AsyncMethods):
    """What Client does, to be awaited: `await client.task_get(task)`, `async for task in client.iterate("task_list")`.

    A call that is cancelled is not taken back: what was sent may still be executed.
    """

    def __init__(self, url: str = DEFAULT_URL, **options: Any) -> None:
        self._client = Client(url, **options)
        self._threads = concurrent.futures.ThreadPoolExecutor(THREADS, thread_name_prefix="assay-client")

    @property
    def url(self) -> str:
        return self._client.url

    async def __aenter__(self) -> "AsyncClient":
        return self

    async def __aexit__(self, *_: Any) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        self._threads.shutdown(wait=False)
        self._client.close()

    async def call(self, method: str, params: Optional[Mapping[str, Any]] = None) -> Any:
        """The result of any method. Raises AssayError."""
        return await self._run(self._client.call, method, params)

    async def batch(self, calls: Sequence[Call]) -> List[Any]:
        """As Client.batch."""
        result: List[Any] = await self._run(self._client.batch, calls)
        return result

    async def iterate(self, method: str, **params: Any) -> AsyncIterator[Any]:  # type: ignore[override, unused-ignore]
        """As Client.iterate."""
        if method not in PAGES:
            raise ValueError(f"{method} is no listing; these are: {', '.join(sorted(PAGES))}")
        while True:
            page = await self.call(method, params)
            cursor = page_cursor(method, page)
            for item in page[PAGES[method]]:
                yield item
            if cursor is None:
                return
            params = {**params, "cursor": cursor}

    def subscribe(self, topic: str, **options: Any) -> AsyncSubscription:
        """As Client.subscribe, with the same arguments."""
        return AsyncSubscription(functools.partial(self._client.subscribe, topic, **options))

    async def _run(self, function: Callable[..., Any], *arguments: Any) -> Any:
        return await asyncio.get_running_loop().run_in_executor(self._threads, functools.partial(function, *arguments))
