# SPDX-License-Identifier: Apache-2.0
"""JSON-RPC 2.0 over HTTP, as docs/rpc.md has it."""
import json
import urllib.request


class RpcError(Exception):
    def __init__(self, error):
        super().__init__(f"{error['code']} {error['message']}")
        self.code, self.data = error["code"], error.get("data") or {}

    @property
    def name(self):
        return self.data.get("name")

    @property
    def tx_error(self):
        return self.data.get("tx_error")


class Rpc:
    def __init__(self, url):
        self.url = url

    def _post(self, message):
        request = urllib.request.Request(self.url, json.dumps(message).encode(), {"Content-Type": "application/json"})
        with urllib.request.urlopen(request, timeout=60) as answer:
            return json.load(answer)

    def __call__(self, method, **params):
        answer = self._post({"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
        if "error" in answer:
            raise RpcError(answer["error"])
        return answer["result"]

    def batch(self, calls):
        """One request with many calls, at most 20: a list of results, or of RpcErrors in their places."""
        message = [{"jsonrpc": "2.0", "id": i, "method": method, "params": params} for i, (method, params) in enumerate(calls)]
        answers = {answer["id"]: answer for answer in self._post(message)}
        return [RpcError(answers[i]["error"]) if "error" in answers[i] else answers[i]["result"] for i in range(len(calls))]
