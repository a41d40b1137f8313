#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Emulated links: a network namespace for each rank, with `tbf` on its device for the rate, and a process that forwards frames
between the devices, later by the delay; two ranks without a delay are joined by the kernel alone."""

import json
import os
import pathlib
import shutil
import signal
import subprocess
import time

BURST_BYTES = 20_000  # more than the largest frame that a device takes
FRAME_BYTES = 16_384
CONGESTION = "cubic"  # Linux's default


def missing():
    """What this machine lacks for the benchmark."""
    out = []
    if os.geteuid() != 0:
        out.append("root, for network namespaces")
    out += [f"the command `{name}`" for name in ("ip", "tc") if shutil.which(name) is None]
    if not pathlib.Path("/dev/net/tun").exists():
        out.append("/dev/net/tun")
    return out


def address(rank):
    return f"10.77.0.{rank + 1}"


class Links:
    """Namespaces, and what forwards between them. Without a delay the kernel joins two: nothing of ours takes processor time."""

    def __init__(self, bench, ranks, mbit, delay_ms):
        self.tag = f"assay{os.getpid() % 10_000}-"
        self.ranks = ranks
        self.names = []
        self.forwarder = None
        if delay_ms == 0 and ranks == 2:
            run("ip", "link", "add", f"{self.tag}0", "type", "veth", "peer", "name", f"{self.tag}1")
        else:
            self.forwarder = subprocess.Popen(
                [bench, "forward-links", "--count", str(ranks), "--prefix", self.tag, "--mbit", str(mbit), "--delay-ms", str(delay_ms)],
                stdout=subprocess.PIPE, text=True)
        try:
            if self.forwarder is not None and self.forwarder.stdout.readline().strip() != "ready":
                raise RuntimeError("the forwarder cannot make its devices")
            for rank in range(ranks):
                self.add(rank, mbit)
        except BaseException:
            self.close()
            raise

    def add(self, rank, mbit):
        name = device = f"{self.tag}{rank}"
        run("ip", "netns", "add", name)
        self.names.append(name)
        run("ip", "link", "set", device, "netns", name)
        for command in (
            ["link", "set", "lo", "up"],
            ["link", "set", device, "gso_max_size", str(FRAME_BYTES)],
            ["address", "add", f"{address(rank)}/24", "dev", device],
            ["link", "set", device, "up"],
            ["route", "replace", f"{address(0).rsplit('.', 1)[0]}.0/24", "dev", device, "src", address(rank), "congctl", CONGESTION],
        ):
            run("ip", "-n", name, *command)
        run("tc", "-n", name, "qdisc", "add", "dev", device, "root", "tbf", "rate", f"{mbit}mbit", "burst", str(BURST_BYTES),
            "limit", str(8 << 20))

    def command(self, rank, arguments):
        return ["ip", "netns", "exec", self.names[rank], *map(str, arguments)]

    def close(self):
        """Returns what the forwarder says that it did."""
        told = ""
        if self.forwarder is not None:
            self.forwarder.send_signal(signal.SIGTERM)
            told = self.forwarder.communicate(timeout=30)[0]
        for name in self.names:
            run("ip", "netns", "delete", name)
        self.names = []
        if self.forwarder is None:  # else an end that is in no namespace yet would stay
            subprocess.run(["ip", "link", "delete", f"{self.tag}0"], stderr=subprocess.DEVNULL)
        return json.loads(told.strip().splitlines()[-1]) if told.strip() else {}


def run(*arguments):
    subprocess.run(arguments, check=True, stdout=subprocess.PIPE)


def all_ranks(links, lead, member, folder, timeout):
    """Starts members and the lead. Returns what each printed, the lead first; members are told to stop when it is done."""
    running = []
    try:
        for rank in range(1, links.ranks):
            with open(folder / f"m{rank}.log", "w") as log:
                running.append(subprocess.Popen(links.command(rank, member(rank)), stdout=subprocess.PIPE, stderr=log, text=True))
        with open(folder / "lead.log", "w") as log:
            said = subprocess.run(links.command(0, lead), stdout=subprocess.PIPE, stderr=log, text=True, timeout=timeout)
        if said.returncode != 0:
            raise RuntimeError("the lead failed: " + (folder / "lead.log").read_text()[-2000:])
        time.sleep(1.0)
        for process in running:
            process.send_signal(signal.SIGTERM)
        return [said.stdout] + [process.communicate(timeout=60)[0] for process in running]
    finally:
        for process in running:
            if process.poll() is None:
                process.kill()
                process.wait()
