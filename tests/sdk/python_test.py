# SPDX-License-Identifier: Apache-2.0
"""The Python SDK as it is installed from its wheel, against a recorded chain, a live one and servers that lie.

    python_test.py BINARIES

run.py starts it with the Python of a fresh virtual environment, where the package is.
"""
import asyncio
import json
import pathlib
import sys
import tempfile
import threading
import time
import unittest
from decimal import Decimal

import assay

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import chains  # noqa: E402
import notebooks  # noqa: E402

BINARIES = pathlib.Path(sys.argv.pop(1))
HOSTILE = ["\x00", "--home=/", "-h", "'; drop", "\u202e\ud7ff", "../..", "{\"a\":1}", "a" * 100_000, "\r\nHost: x", "&after=0#"]


class Recorded(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory(prefix="assay-sdk-")
        cls.process, cls.url = chains.recorded(BINARIES, cls.folder.name)
        cls.client = assay.Client(cls.url)

    @classmethod
    def tearDownClass(cls):
        cls.client.close()
        chains.stop(cls.process)
        cls.folder.cleanup()

    def test_every_method_answers_or_refuses_as_described(self):
        document = self.client.rpc_discover()
        task = next(self.client.iterate("task_list"))["id"]
        account = self.client.task_get(task)["submitter"]
        known = {"task": task, "account": account, "index": 0, "after": 0, "prefix": task[:8], "profiler": account,
                 "hash": self.client.chain_block(height=1)["txs"][0]["hash"], "tx": "00", "timeout_ms": 10,
                 "dispute": next(self.client.iterate("dispute_list"))["id"]}
        for method in document["methods"]:
            params = {p["name"]: known[p["name"]] for p in method["params"] if p["required"] or p["name"] == "timeout_ms"}
            params.update({"account": account} if method["name"] == "chain_proof" else {})
            with self.subTest(method["name"]):
                try:
                    self.assertIsNotNone(getattr(self.client, method["name"].replace(".", "_"))(**params))
                except (assay.NotFound, assay.Unavailable, assay.TxRejected, assay.InvalidParams) as error:
                    self.assertIn(method["name"], ("profile_get", "chain_light_block", "tx_submit", "checkpoint_get"), str(error))

    def test_pages_of_any_size_have_the_same_items(self):
        whole = list(self.client.iterate("event_list", limit=100))
        self.assertGreater(len(whole), 20)
        self.assertEqual(list(self.client.iterate("event_list", limit=7)), whole)
        with self.assertRaises(ValueError):
            next(self.client.iterate("task_get"))

    def test_a_batch_of_more_than_a_request_keeps_its_order(self):
        calls = [("chain_block", {"height": height}) for height in range(1, 46)] + [("task_get", {"task": "00" * 32})]
        answers = self.client.batch(calls)
        self.assertEqual([block["height"] for block in answers[:-1]], list(range(1, 46)))
        self.assertIsInstance(answers[-1], assay.NotFound)

    def test_a_subscription_tells_every_block_and_goes_on_behind_any(self):
        with self.client.subscribe("blocks", after=0) as subscription:
            first = [next(subscription) for _ in range(101)]
        self.assertEqual([message["data"]["height"] for message in first], list(range(1, 102)))
        with self.client.subscribe("blocks", after=first[49]["seq"]) as subscription:
            self.assertEqual([next(subscription) for _ in range(51)], first[50:])

    def test_errors_have_their_code_name_and_hint(self):
        with self.assertRaises(assay.NotFound) as caught:
            self.client.task_get("00" * 32)
        self.assertEqual((caught.exception.code, caught.exception.name), (-32001, "not_found"))
        self.assertTrue(caught.exception.hint)
        with self.assertRaises(assay.InvalidParams):
            self.client.call("task_get", {"tusk": "x"})
        with self.assertRaises(assay.MethodNotFound):
            self.client.call("no_such_method")
        with self.assertRaises(assay.InvalidParams):
            next(self.client.subscribe("task", task="x", after=0))

    def test_hostile_strings_are_refused_and_nothing_else(self):
        core = assay.Core(BINARIES, node=self.url, home=pathlib.Path(self.folder.name) / "home")
        for text in HOSTILE:
            with self.subTest(text[:20]):
                with self.assertRaises(assay.InvalidParams):
                    self.client.task_get(text)
                # A target that is too long is refused before anybody reads it as a query.
                with self.assertRaises(assay.InvalidParams if len(text) < 1000 else assay.ProtocolError):
                    next(self.client.subscribe("task", task=text, after=0))
                with self.assertRaises((assay.CoreError, ValueError)) as caught:
                    core.task_status(text)
                if isinstance(caught.exception, assay.CoreError):
                    self.assertEqual(caught.exception.name, "usage")

    def test_async_does_the_same(self):
        async def run():
            async with assay.AsyncClient(self.url) as client:
                heights = await asyncio.gather(*[client.chain_block(height=h) for h in range(1, 30)])
                self.assertEqual([block["height"] for block in heights], list(range(1, 30)))
                tasks = [task["id"] async for task in client.iterate("task_list")]
                self.assertEqual(tasks, [task["id"] for task in self.client.iterate("task_list")])
                seen = []
                async with client.subscribe("blocks", after=0) as subscription:
                    async for message in subscription:
                        seen.append(message["data"]["height"])
                        if len(seen) == 101:
                            break
                self.assertEqual(seen, list(range(1, 102)))
                with self.assertRaises(asyncio.TimeoutError):
                    await asyncio.wait_for(client.subscribe("blocks").__anext__(), 1)
        asyncio.run(run())

    def test_the_core_audits_and_says_what_does_not_verify(self):
        core = assay.Core(BINARIES, node=self.url, home=pathlib.Path(self.folder.name) / "auditor")
        with self.assertRaises(assay.CoreError) as caught:  # no later block will ever sign the last state
            core.audit_task(next(self.client.iterate("task_list"))["id"])
        self.assertIn(caught.exception.exit_code, (7, 10))
        with self.assertRaises(assay.CoreError) as caught:
            core.task_status("00" * 32)
        self.assertEqual(caught.exception.exit_code, 6)
        with self.assertRaises(assay.CoreError):
            assay.Core("/nowhere")


    def test_the_auditors_notebook(self):
        with tempfile.TemporaryDirectory(prefix="assay-notebook-") as work:
            names = notebooks.execute("auditor.ipynb", ASSAY_NODE=self.url, ASSAY_WORK=work, ASSAY_BIN=BINARIES)
        self.assertEqual((names["verified"]["tasks"], names["verified"]["signer_is_known"]), (2, True))
        self.assertEqual([row["reason"] for row in names["penalties"]], ["lost_dispute"])
        self.assertIn("histories[0].records", names["found"])


class Live(unittest.TestCase):
    def test_a_transfer_is_told_across_a_restart(self):
        with tempfile.TemporaryDirectory(prefix="assay-sdk-") as folder:
            chain = chains.LiveChain(BINARIES, folder)
            try:
                chain.start()
                self.play(chain, pathlib.Path(folder))
            finally:
                chain.stop()

    def play(self, chain, folder):
        core = assay.Core(BINARIES, node=chain.url, home=folder / "home", password="only for this test", signer="bank")
        core.keys_import("bank", chain.home / "node_key")
        me = core.keys_new("me")["account"]
        self.assertEqual(assay.address_of(assay.account_of(me)), me)
        client, heights, faults = assay.Client(chain.url), [], []
        subscription = client.subscribe("blocks")

        def follow():
            try:
                for message in subscription:
                    heights.append(message["data"]["height"])
            except Exception as error:  # shown by the main thread
                faults.append(error)
        thread = threading.Thread(target=follow)
        thread.start()
        with client.subscribe("account", account=me) as mine:
            core.transfer(me, assay.to_grains("1.5"))
            self.assertEqual(next(mine)["data"]["action"], "transfer")
            self.assertEqual(client.account_get(me)["balance"], "1500000000")
            chain.restart()
            core.transfer(me, 1)
            self.assertEqual(next(mine)["data"]["action"], "transfer")
        self.assertEqual(assay.to_asy(client.account_get(me)["balance"]), Decimal("1.500000001"))
        proven = core.verify_slot(account=me, proposer=chain.proposer)
        self.assertTrue(proven)
        with self.assertRaises(assay.CoreError) as caught:
            core.transfer(me, 2**63)
        self.assertNotEqual(caught.exception.exit_code, 0)
        deadline = time.monotonic() + 20
        while client.node_status()["height"] > (heights or [0])[-1] + 2 and not faults and time.monotonic() < deadline:
            time.sleep(0.1)
        subscription.close()
        thread.join(timeout=30)
        self.assertFalse(thread.is_alive())
        self.assertEqual(faults, [])
        self.assertGreater(len(heights), 5)
        self.assertEqual(heights, list(range(heights[0], heights[0] + len(heights))))


class Liars(unittest.TestCase):
    def test_a_gap_a_repetition_and_nonsense_are_noticed(self):
        one, two, four = 1 << 24, 2 << 24, 4 << 24
        for stream, error in [(chains.event(one, None) + chains.event(four, 3 << 24), assay.GapError),
                              (chains.event(one, None) + chains.event(one, one), assay.GapError),
                              (chains.event(two, one), assay.GapError),
                              (b"data: {}\n\n", assay.ProtocolError), (b"data: [[[\n\n", assay.ProtocolError),
                              (b"data: " + b"[" * 200_000 + b"\n\n", assay.ProtocolError),
                              (b'event: error\ndata: {"code":-32002,"message":"gone","data":{"first_height":9}}\n\n', assay.Unavailable)]:
            with self.subTest(stream[:60]), chains.Liar(stream=stream) as liar, self.assertRaises(error):
                for _ in assay.Client(liar.url).subscribe("blocks", after=0, patience=2):
                    pass

    def test_answers_that_are_none(self):
        good = json.dumps({"jsonrpc": "2.0", "id": 7, "result": {}}).encode()
        for answer in [b"", b"<html>", b"[]", b"null", b"{}", good, b"[" * 200_000, b'{"jsonrpc":"2.0","id":1,"error":5}',
                       b'{"jsonrpc":"2.0","id":1,"result":1,"error":{}}', b"\xff\xfe"]:
            with self.subTest(answer[:30]), chains.Liar(answer) as liar, self.assertRaises(assay.ProtocolError):
                assay.Client(liar.url).node_status()

    def test_a_circle_of_pages_ends(self):
        page = json.dumps({"jsonrpc": "2.0", "id": 1, "result": {"tasks": [], "next_cursor": "again"}}).encode()
        with chains.Liar(page) as liar, self.assertRaises(assay.ProtocolError):
            list(assay.Client(liar.url).iterate("task_list"))

    def test_reads_are_sent_again_and_submissions_are_not(self):
        good = json.dumps({"jsonrpc": "2.0", "id": 1, "result": {"hash": "0"}}).encode()
        with chains.Liar(good, drop=2) as liar:
            assay.Client(liar.url).node_status()
            self.assertEqual(liar.posts, 3)
        with chains.Liar(good, drop=2) as liar, self.assertRaises(assay.ConnectionFailed):
            assay.Client(liar.url).tx_submit("00")
        self.assertEqual(liar.posts, 1)


class Units(unittest.TestCase):
    def test_money_is_exact(self):
        for text, grains in [("0", 0), ("1.5", 1_500_000_000), ("18446744073.709551615", 2**64 - 1), ("0.000000001", 1)]:
            self.assertEqual(assay.to_grains(text), grains)
            self.assertEqual(assay.to_asy(str(grains)), Decimal(text))
        for wrong in ["", "x", "-1", "0.0000000001", "18446744073.709551616", "NaN", "Infinity", "1e99"]:
            with self.subTest(wrong), self.assertRaises(ValueError):
                assay.to_grains(wrong)
        with self.assertRaises(TypeError):
            assay.to_grains(1.5)

    def test_a_mistyped_address_is_noticed(self):
        address = assay.address_of(bytes(range(32)))
        self.assertEqual(assay.account_of(address), bytes(range(32)))
        for i in range(6, len(address)):
            other = address[:i] + ("q" if address[i] != "q" else "p") + address[i + 1:]
            with self.assertRaises(ValueError):
                assay.account_of(other)


if __name__ == "__main__":
    unittest.main()
