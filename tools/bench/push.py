#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Many subscribers and many readers of one node, and whether each of them was told everything once.

    push.py --assayd PATH [--subscribers N] [--blocks N] [--interval-ms N] [--reads N] [--home DIR] [-o json]

Starts a node on loopback, opens N subscriptions (half by WebSocket, half by server-sent events) from many addresses of
127.0.0.0/8, restarts the node in the middle, and has every subscriber resume from the last message that it has seen.
Meanwhile asks for --reads answers a second, of mixed methods, over 16 connections. Exits 0 only if nobody missed a
block or was told one twice. The client is written here, from RFC 6455 and the standard of server-sent events alone.
"""
import argparse
import asyncio
import base64
import hashlib
import json
import os
import pathlib
import resource
import signal
import subprocess
import sys
import tempfile
import time

PER_ADDRESS = 100  # connections; the node takes at most 256 from one loopback address
READS = [("node_status", {}), ("validator_list", {}), ("beacon_get", {}), ("supply_get", {}), ("task_list", {"limit": 20}),
         ("chain_block", {}), ("fee_history", {"count": 20}), ("event_list", {"limit": 20}), ("chain_params", {}),
         ("search", {"prefix": "1"})]


class Node:
    def __init__(self, assayd, home, interval_ms, connections):
        self.assayd, self.home, self.port = assayd, home, 0
        subprocess.run([assayd, "init", "--home", str(home)], check=True, capture_output=True)
        config = home / "config.toml"
        config.write_text(config.read_text().replace("# connections_max = 512", f"connections_max = {connections}"))
        self.interval_ms = interval_ms

    def start(self):
        command = [self.assayd, "start", "--home", str(self.home), "--rpc-port", str(self.port), "--block-interval-ms",
                   str(self.interval_ms)]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        line = self.process.stdout.readline()
        if "rpc " not in line:
            raise RuntimeError("the node does not start")
        self.port = int(line.strip().rsplit(":", 1)[1])

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(timeout=30)
        self.process.stdout.close()


def address(number):
    return f"127.0.{1 + number // PER_ADDRESS // 250}.{1 + number // PER_ADDRESS % 250}"


class Subscriber:
    """Follows the chain's blocks, over as many connections as it takes."""

    def __init__(self, number, port):
        self.number, self.port = number, port
        self.heights, self.last, self.faults, self.delays = [], 0, [], []
        self.is_connected = False

    def take(self, message):
        if message["prev"] != (self.last or None):
            self.faults.append(f"subscriber {self.number}: {message['prev']} where {self.last} was the last")
        self.last = message["seq"]
        self.heights.append(message["data"]["height"])
        self.delays.append(time.time() * 1000 - message["data"]["time_ms"])

    async def follow(self, last_height):
        while not self.heights or self.heights[-1] < last_height:
            try:
                await (self.web_socket(last_height) if self.number % 2 == 0 else self.events(last_height))
            except (OSError, asyncio.IncompleteReadError):
                await asyncio.sleep(0.2 + 0.001 * (self.number % 300))
            finally:
                self.is_connected = False

    async def connect(self):
        return await asyncio.open_connection("127.0.0.1", self.port, local_addr=(address(self.number), 0))

    async def web_socket(self, last_height):
        reader, writer = await self.connect()
        try:
            key = base64.b64encode(os.urandom(16)).decode()
            writer.write((f"GET /ws HTTP/1.1\r\nHost: 127.0.0.1\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                          f"Sec-WebSocket-Key: {key}\r\nSec-WebSocket-Version: 13\r\n\r\n").encode())
            head = (await reader.readuntil(b"\r\n\r\n")).decode()
            wanted = base64.b64encode(hashlib.sha1((key + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11").encode()).digest())
            if " 101 " not in head or wanted.decode() not in head:
                raise OSError("no WebSocket: " + head.split("\r\n")[0])
            params = {"topic": "blocks", "after": self.last}
            self.frame(writer, 1, json.dumps({"jsonrpc": "2.0", "id": 1, "method": "subscribe", "params": params}).encode())
            self.is_connected = True
            while not self.heights or self.heights[-1] < last_height:
                kind, body = await self.read_frame(reader)
                if kind == 8:
                    raise OSError("closed")
                if kind == 9:
                    self.frame(writer, 10, body)
                if kind == 1:
                    message = json.loads(body)
                    if message.get("method") == "subscription":
                        self.take(message["params"])
                    elif "error" in message:
                        self.faults.append(f"subscriber {self.number}: {message['error']['message']}")
        finally:
            writer.close()

    @staticmethod
    def frame(writer, kind, body):
        mask = os.urandom(4)
        length = bytes([0x80 | len(body)]) if len(body) < 126 else bytes([0x80 | 126]) + len(body).to_bytes(2, "big")
        writer.write(bytes([0x80 | kind]) + length + mask + bytes(b ^ mask[i % 4] for i, b in enumerate(body)))

    @staticmethod
    async def read_frame(reader):
        first, second = await reader.readexactly(2)
        length = second & 127
        if length >= 126:
            length = int.from_bytes(await reader.readexactly(2 if length == 126 else 8), "big")
        return first & 15, await reader.readexactly(length)

    async def events(self, last_height):
        reader, writer = await self.connect()
        try:
            resume = f"Last-Event-ID: {self.last}\r\n" if self.last else ""
            start = "" if self.last else "&after=0"
            writer.write(f"GET /events?topic=blocks{start} HTTP/1.1\r\nHost: 127.0.0.1\r\n{resume}\r\n".encode())
            head = (await reader.readuntil(b"\r\n\r\n")).decode()
            if " 200 " not in head:
                raise OSError("no stream: " + head.split("\r\n")[0])
            self.is_connected = True
            while not self.heights or self.heights[-1] < last_height:
                event = (await reader.readuntil(b"\n\n")).decode()
                for line in event.splitlines():
                    if line.startswith("data: "):
                        self.take(json.loads(line[6:]))
        finally:
            writer.close()


async def read(port, rate, delays, failures, is_over):
    """Mixed calls at a steady rate, over 16 connections."""
    async def one(number):
        reader, writer, turn = None, None, number
        while not is_over():
            began = time.monotonic()
            method, params = READS[turn % len(READS)]
            turn += 16
            body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).encode()
            try:
                if writer is None:
                    reader, writer = await asyncio.open_connection("127.0.0.1", port)
                writer.write(b"POST / HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nContent-Length: "
                             + str(len(body)).encode() + b"\r\n\r\n" + body)
                head = await reader.readuntil(b"\r\n\r\n")
                size = int(head.split(b"Content-Length: ")[1].split(b"\r\n")[0])
                answer = json.loads(await reader.readexactly(size))
                if "error" in answer:
                    failures.append(answer["error"]["message"])
                delays.append((time.monotonic() - began) * 1000)
            except (OSError, asyncio.IncompleteReadError):
                writer = None  # the node is restarted
                await asyncio.sleep(0.1)
            await asyncio.sleep(max(0.0, 16 / rate - (time.monotonic() - began)))
    await asyncio.gather(*(one(number) for number in range(16)))


async def play(node, options):
    subscribers = [Subscriber(number, node.port) for number in range(options.subscribers)]
    follows = [asyncio.create_task(each.follow(options.blocks)) for each in subscribers]
    read_delays, failures, done = [], [], []
    began = time.monotonic()
    half = options.blocks // 2

    def reached(height):
        return min((each.heights[-1] if each.heights else 0) for each in subscribers) >= height

    limit = 120 + 3 * options.blocks * options.interval_ms / 1000
    while options.reads and not reached(1) and time.monotonic() - began < limit:
        await asyncio.sleep(0.1)  # there is nothing to read before the first block
    reading = asyncio.create_task(read(node.port, options.reads, read_delays, failures, lambda: bool(done))) if options.reads else None
    while not reached(half) and time.monotonic() - began < limit:
        await asyncio.sleep(0.1)
    connected = sum(each.is_connected for each in subscribers)
    await asyncio.to_thread(node.stop)
    await asyncio.to_thread(node.start)
    # Those that follow reconnect meanwhile; what came before the restart was at the pace of blocks.
    before = [len(each.delays) for each in subscribers]
    try:
        await asyncio.wait_for(asyncio.gather(*follows), limit)
    except asyncio.TimeoutError:
        pass
    done.append(True)
    if reading:
        await reading
    faults = [fault for each in subscribers for fault in each.faults] + failures
    wanted = list(range(1, options.blocks + 1))
    for each in subscribers:
        if each.heights[:options.blocks] != wanted:
            faults.append(f"subscriber {each.number}: {len(each.heights)} blocks, the last {each.heights[-1:]}")
    paced = sorted(delay for each, end in zip(subscribers, before) for delay in each.delays[half // 2:end])
    return {
        "subscribers": options.subscribers,
        "connected_before_restart": connected,
        "blocks": options.blocks,
        "interval_ms": options.interval_ms,
        "messages": sum(len(each.heights) for each in subscribers),
        "missed_or_doubled": len(faults),
        "delay_ms": percentiles(paced),
        "reads_per_s": options.reads,
        "reads": len(read_delays),
        "read_ms": percentiles(sorted(read_delays)),
        "faults": faults[:10],
    }


def percentiles(values):
    if not values:
        return None
    return {name: round(values[min(len(values) - 1, int(len(values) * part))], 2)
            for name, part in (("p50", 0.5), ("p99", 0.99), ("max", 1.0))}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--assayd", required=True)
    parser.add_argument("--subscribers", type=int, default=1000)
    parser.add_argument("--blocks", type=int, default=40)
    parser.add_argument("--interval-ms", type=int, default=500)
    parser.add_argument("--reads", type=int, default=0, help="answers a second to ask for")
    parser.add_argument("-o", "--output", choices=["text", "json"], default="text")
    options = parser.parse_args()
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    needed = 4 * options.subscribers + 1_000
    if hard != resource.RLIM_INFINITY and hard < needed:
        print(f"skipped: {needed} file descriptors are needed, and {hard} are the limit")
        return 77
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, needed), hard))
    with tempfile.TemporaryDirectory(prefix="assay-push-") as folder:
        node = Node(options.assayd, pathlib.Path(folder) / "node", options.interval_ms, options.subscribers + 100)
        node.start()
        try:
            result = asyncio.run(play(node, options))
        finally:
            node.stop()
    if options.output == "json":
        print(json.dumps(result, indent=1))
    else:
        for name, value in result.items():
            print(f"{name:26} {value}")
    return 0 if result["missed_or_doubled"] == 0 else 1


if __name__ == "__main__":
    sys.exit(main())
