# SPDX-License-Identifier: Apache-2.0
"""Real servers for tests of stores: versitygw (S3) and Helia (IPFS), installed below a build folder where they can be had.

Each server is a context manager, listens on loopback and ends with it. Missing says why one cannot be had.

    servers.py s3|ipfs BUILD_FOLDER   only installs one, where `assay demo --store` looks for it
"""
import hashlib
import os
import pathlib
import shutil
import socket
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
VERSITYGW = "github.com/versity/versitygw/cmd/versitygw@v1.8.0"
KEY, SECRET = "assay-test", "assay-test-secret"


class Missing(Exception):
    """A server cannot be had on this machine."""


def installed(what, tool, command, product, folder, **environment):
    """Runs a package manager unless what it makes is there. Installs into a folder of its own, which then gets its name."""
    folder = pathlib.Path(folder).resolve()
    if (folder / product).exists():
        return folder / product
    if shutil.which(tool) is None:
        raise Missing(f"{what} is not installed, and there is no {tool} that could install it")
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent) as at:
        made = pathlib.Path(at) / "made"
        made.mkdir()
        for file in ("package.json", "package-lock.json"):
            shutil.copy(HERE / file, made / file)
        try:
            done = subprocess.run(command, cwd=made, capture_output=True, text=True, timeout=600,
                                  env={**os.environ, **{name: str(made) for name in environment}})
        except subprocess.TimeoutExpired:
            raise Missing(f"{tool} did not install {what} within ten minutes") from None
        if done.returncode != 0 or not (made / product).exists():
            last = (done.stderr.strip() or done.stdout.strip()).splitlines()[-1:]
            raise Missing(f"{tool} cannot install {what}: {' '.join(last)}")
        if not folder.exists():
            made.rename(folder)
    return folder / product


def versitygw(build):
    """The program's path."""
    return shutil.which("versitygw") or installed(
        "versitygw", "go", ["go", "install", VERSITYGW], "versitygw", pathlib.Path(build) / "stores" / "versitygw", GOBIN="")


def helia(build):
    """The folder that has node_modules."""
    if shutil.which("node") is None:
        raise Missing("there is no node to run Helia with")
    command = ["npm", "ci", "--no-audit", "--no-fund", "--ignore-scripts"]
    return installed("Helia", "npm", command, "node_modules/@helia/utils", pathlib.Path(build) / "stores" / "helia").parents[2]


def ipfs_node(build):
    """The script of a node of IPFS, beside the packages that it needs."""
    folder = helia(build)
    shutil.copy(HERE / "ipfs_node.mjs", folder / "ipfs_node.mjs")
    return folder / "ipfs_node.mjs"


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


class Server:
    """A process that listens on loopback."""

    def __init__(self, command, **options):
        self.process = subprocess.Popen(command, text=True, **options)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()

    def stop(self):
        if self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(10)
            except subprocess.TimeoutExpired:
                self.process.kill()
        self.process.wait()
        for pipe in (self.process.stdin, self.process.stdout):
            if pipe:
                pipe.close()


class S3(Server):
    """versitygw over a directory, with one bucket of this name."""

    def __init__(self, build, folder, bucket="bucket"):
        program = versitygw(build)
        self.root = pathlib.Path(folder) / "objects"
        (self.root).mkdir(parents=True)
        (pathlib.Path(folder) / "meta").mkdir()
        self.port = free_port()
        self.endpoint = f"http://127.0.0.1:{self.port}"
        self.environment = {"AWS_ACCESS_KEY_ID": KEY, "AWS_SECRET_ACCESS_KEY": SECRET}
        super().__init__(
            [program, "--port", f"127.0.0.1:{self.port}", "--quiet", "posix", "--sidecar", str(pathlib.Path(folder) / "meta"), str(self.root)],
            env={**os.environ, "ROOT_ACCESS_KEY": KEY, "ROOT_SECRET_KEY": SECRET},
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        for _ in range(300):
            if self.curl("-X", "PUT", f"{self.endpoint}/{bucket}", check=False) == 0:
                return
            if self.process.poll() is not None:
                break
            time.sleep(0.1)
        self.stop()
        raise Missing("versitygw does not start here")

    def curl(self, *arguments, check=True):
        """Sends a signed request without a body."""
        to = [] if "-o" in arguments else ["-o", "/dev/null"]
        done = subprocess.run(
            ["curl", "-sSf", *to, "--aws-sigv4", "aws:amz:us-east-1:s3", "--user", f"{KEY}:{SECRET}",
             "-H", f"x-amz-content-sha256: {hashlib.sha256().hexdigest()}", *arguments],
            capture_output=True, text=True, check=False)
        if check and done.returncode != 0:
            raise RuntimeError(done.stderr)
        return done.returncode


class Ipfs(Server):
    """A node of IPFS by Helia."""

    def __init__(self, build):
        super().__init__(["node", ipfs_node(build)], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.url = self.process.stdout.readline().strip()
        if not self.url:
            self.stop()
            raise Missing("Helia does not start with this version of node")


def main():
    try:
        print({"s3": versitygw, "ipfs": ipfs_node}[sys.argv[1]](sys.argv[2]))
    except Missing as missing:
        print(missing, file=sys.stderr)
        return 77
    return 0


if __name__ == "__main__":
    sys.exit(main())
