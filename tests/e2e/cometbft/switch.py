# SPDX-License-Identifier: Apache-2.0
"""A network of this process's own: network namespaces (iproute2), one Ethernet device in each, and a switch between them
in user space that delays, loses and cuts as a test wants, each direction for itself. It needs root and no kernel
module, and reaches nothing outside."""
import concurrent.futures
import ctypes
import fcntl
import heapq
import os
import pathlib
import random
import selectors
import signal
import struct
import subprocess
import threading
import time

TUNSETIFF, IFF_TAP, IFF_NO_PI = 0x400454CA, 0x0002, 0x1000
CLONE_NEWNET = 0x40000000
PREFIX = "assay-e2e-"
ETHERTYPES = (b"\x08\x00", b"\x08\x06")  # IPv4 and ARP


def ip(*arguments):
    result = subprocess.run(["ip", *arguments], capture_output=True, text=True)
    if result.returncode != 0:
        raise OSError(f"ip {' '.join(arguments)}: {result.stderr.strip()}")


def remove_namespace(name):
    subprocess.run(["ip", "netns", "delete", name], capture_output=True)


def sweep():
    """Removes what a killed test left behind, with the processes in it."""
    for path in pathlib.Path("/run/netns").glob(PREFIX + "*"):
        owner = path.name[len(PREFIX):].split("-")[0]
        if not pathlib.Path("/proc", owner).exists():
            left = subprocess.run(["ip", "netns", "pids", path.name], capture_output=True, text=True).stdout
            for pid in left.split():
                os.kill(int(pid), signal.SIGKILL)
            remove_namespace(path.name)


def why_impossible():
    """Why there can be no namespaces here; None when there can."""
    if os.geteuid() != 0:
        return "network namespaces need root: run ctest as root"
    name = f"{PREFIX}{os.getpid()}-probe"
    try:
        ip("netns", "add", name)
        os.close(open_tap(f"asy{os.getpid() % 100000}p"))
    except OSError as error:
        return f"no network namespaces or TAP devices here ({error}); with iproute2 and /dev/net/tun there are"
    finally:
        remove_namespace(name)
    return None


def open_tap(device):
    descriptor = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
    try:
        fcntl.ioctl(descriptor, TUNSETIFF, struct.pack("16sH22x", device.encode(), IFF_TAP | IFF_NO_PI))
    except OSError:
        os.close(descriptor)
        raise
    return descriptor


class Link:
    """One direction between two hosts."""

    def __init__(self):
        self.cut, self.delay_s, self.jitter_s, self.loss, self.free_at = False, 0.0, 0.0, 0.0, 0.0


class Host:
    def __init__(self, index):
        self.namespace, self.address = f"{PREFIX}{os.getpid()}-{index}", f"10.77.0.{index + 1}"
        self.mac = bytes([2, 0, 0, 0, 0, index + 1])
        device = f"asy{os.getpid() % 100000}n{index}"
        remove_namespace(self.namespace)
        ip("netns", "add", self.namespace)
        self.tap = open_tap(device)
        ip("link", "set", device, "netns", self.namespace)
        inside = ("-n", self.namespace)
        ip(*inside, "link", "set", device, "address", ":".join(f"{b:02x}" for b in self.mac))
        ip(*inside, "address", "add", f"{self.address}/24", "dev", device)
        ip(*inside, "link", "set", "lo", "up")
        ip(*inside, "link", "set", device, "up")
        self.pool = concurrent.futures.ThreadPoolExecutor(1, initializer=self._enter)

    def _enter(self):
        libc = ctypes.CDLL(None, use_errno=True)
        with open(f"/run/netns/{self.namespace}") as space:
            if libc.setns(space.fileno(), CLONE_NEWNET) != 0:
                raise OSError(ctypes.get_errno(), f"setns to {self.namespace}")

    def inside(self, function, *arguments):
        """Runs a function on a thread that sees this host's network."""
        return self.pool.submit(function, *arguments).result()

    def launcher(self):
        return ["ip", "netns", "exec", self.namespace]


class Switch:
    def __init__(self, hosts, seed):
        self.random, self.counts = random.Random(seed), {"passed": 0, "lost": 0, "cut": 0}
        self.hosts, self.queue, self.order, self.stopped = [], [], 0, threading.Event()
        try:
            for index in range(hosts):
                self.hosts.append(Host(index))
        except OSError:
            self.close()
            raise
        self.links = {(a, b): Link() for a in range(hosts) for b in range(hosts) if a != b}
        self.thread = threading.Thread(target=self._run)
        self.thread.start()

    def set(self, a, b, delay_ms=0.0, jitter_ms=0.0, loss=0.0):
        """From a to b; the way back is another link."""
        link = self.links[a, b]
        link.delay_s, link.jitter_s, link.loss = delay_ms / 1000, jitter_ms / 1000, loss

    def split(self, *groups):
        """Hosts hear those of their own group only."""
        group_of = {host: i for i, group in enumerate(groups) for host in group}
        for (a, b), link in self.links.items():
            link.cut = group_of[a] != group_of[b]

    def heal(self):
        self.split(range(len(self.hosts)))

    def _forward(self, source, frame):
        if frame[12:14] not in ETHERTYPES:
            return
        broadcast = frame[0] & 1
        for target, host in enumerate(self.hosts):
            if target == source or not (broadcast or frame[:6] == host.mac):
                continue
            link = self.links[source, target]
            if link.cut:
                self.counts["cut"] += 1
            elif self.random.random() < link.loss:
                self.counts["lost"] += 1
            else:
                # In order, as on a wire.
                due = time.monotonic() + link.delay_s + self.random.uniform(-link.jitter_s, link.jitter_s)
                link.free_at = max(link.free_at, due)
                self.order += 1
                heapq.heappush(self.queue, (link.free_at, self.order, target, frame))

    def _deliver(self):
        while self.queue and self.queue[0][0] <= time.monotonic():
            _, _, target, frame = heapq.heappop(self.queue)
            try:
                os.write(self.hosts[target].tap, frame)
                self.counts["passed"] += 1
            except OSError:
                self.counts["lost"] += 1  # the device's queue is full or it goes down

    def _run(self):
        selector = selectors.DefaultSelector()
        for index, host in enumerate(self.hosts):
            selector.register(host.tap, selectors.EVENT_READ, index)
        while not self.stopped.is_set():
            wait = max(0.0, min(0.1, self.queue[0][0] - time.monotonic())) if self.queue else 0.1
            for key, _ in selector.select(wait):
                for _ in range(64):
                    try:
                        self._forward(key.data, os.read(key.fd, 65536))
                    except BlockingIOError:
                        break
            self._deliver()

    def close(self):
        self.stopped.set()
        if hasattr(self, "thread"):
            self.thread.join()
        for host in self.hosts:
            host.pool.shutdown()
            os.close(host.tap)
            remove_namespace(host.namespace)
