#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Follows a tutorial as a reader would, and fails where it does not do what it says.

    tutorials_test.py SOURCE_DIR BIN_DIR PAGE      runs the blocks of one page in a temporary directory
    tutorials_test.py --self-test                  feeds the runner pages that are wrong

The info string of a fenced block says what becomes of it:

    sh                  runs in bash, in the directory and with the exported variables of the block before it, and
                        must end with 0
    sh fails N          the same, and must end with N
    sh background       is started, keeps running until the page is over, and is then ended by its process id;
                        the block ends with `&`, as the reader types it
    sh background ends  the same, but a later block ends it
    sh needs PROGRAM    is left out, and said to be, where PROGRAM is not on the PATH; so are the blocks after it
                        up to the next heading. PROGRAM is `pypi` where the package index must be reachable
    sh not-run REASON   is not run
    output              what the block before it printed: `...` stands for any text, alone in a line for any lines

Blocks of other languages are shown to the reader and left alone. The ports that a page names are replaced by free ones.
"""
import os
import pathlib
import random
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request

PATIENCE_S = 240  # for one block
PORTS = {26600: 1, 26660: 1, 27000: 40, 41000: 1, 41001: 1, 41002: 1}  # the first port that a page names: how many in a row it takes
FENCE = re.compile(r"^```(.*)$")


class Wrong(Exception):
    """The page does not do what it says."""


def blocks_of(text):
    """Yields (line, info, body) for each fenced block, and (line, None, heading) for each heading."""
    info, body, start = None, [], 0
    for number, line in enumerate(text.splitlines(), 1):
        fence = FENCE.match(line)
        if info is None and fence:
            info, body, start = fence.group(1).strip(), [], number
        elif fence:
            yield start, info, "\n".join(body)
            info = None
        elif info is not None:
            body.append(line)
        elif line.startswith("#"):
            yield number, None, line
    if info is not None:
        raise Wrong(f"line {start}: the block does not end")


def matches(pattern, printed):
    """Whether consecutive whole lines of what was printed are those of the pattern."""
    expression = ""
    for line in pattern.splitlines():
        if line.strip() == "...":
            expression += r"(?:[^\n]*\n)*?"
        else:
            expression += "[^\n]*?".join(re.escape(part) for part in line.rstrip().split("...")) + r"[ \t]*\n"
    return re.search(r"^" + expression, printed + "\n", re.MULTILINE) is not None


def free_ports(text):
    """Maps each port that the page names to the first of as many free ones, from below those that systems give out."""
    found = {}
    for port, count in PORTS.items():
        if not re.search(rf"\b{port}\b", text):
            continue
        for _ in range(200):
            first = random.randrange(10000, 32000)
            if all(is_free(first + i) for i in range(count)):
                found[str(port)] = str(first)
                break
        else:
            raise Wrong(f"{count} free ports in a row were not found")
    return found


def is_free(port):
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True


class Page:
    def __init__(self, text, home, environment):
        self.text, self.home, self.environment = text, home, environment
        self.variables = home.with_name("variables")
        self.variables.write_text("")
        self.started = []
        self.printed = None  # what the last block printed; a file where it is in the background

    def has(self, what):
        if what != "pypi":
            return shutil.which(what, path=self.environment["PATH"]) is not None
        try:
            with urllib.request.urlopen("https://pypi.org/simple/wheel/", timeout=5) as answer:
                return answer.status == 200
        except OSError:
            return False

    def script(self, body):
        return f"set -eo pipefail\n. '{self.variables}'\n{body}\n"

    def spawn(self, script, log):
        return subprocess.Popen(
            ["bash", "-c", script], cwd=self.home, env=self.environment, stdin=subprocess.DEVNULL, stdout=log,
            stderr=subprocess.STDOUT, start_new_session=True)

    def run(self, body, status):
        log = self.home.with_name("block.log")
        with open(log, "wb") as out:
            process = self.spawn(self.script(f"trap '{{ export -p; echo cd \"$PWD\"; }} > \"{self.variables}\"' EXIT\n{body}"), out)
            try:
                ended = process.wait(PATIENCE_S)
            except subprocess.TimeoutExpired:
                stop(process)
                raise Wrong(f"takes longer than {PATIENCE_S} s; it printed:\n{log.read_text(errors='replace')}") from None
        self.printed = log.read_text(errors="replace")
        if ended != status:
            raise Wrong(f"ends with {ended}, not with {status}; it printed:\n{self.printed}")

    def start(self, body, may_end):
        if not body.rstrip().endswith("&"):
            raise Wrong("a block in the background ends with `&`")
        log = self.home.with_name(f"background-{len(self.started)}.log")
        with open(log, "wb") as out:
            self.started.append((self.spawn(self.script(body.rstrip()[:-1]), out), log, may_end))
        self.printed = log

    def expect(self, pattern):
        if self.printed is None:
            raise Wrong("no block that was run is before this output")
        if isinstance(self.printed, str):
            if not matches(pattern, self.printed):
                raise Wrong(f"was not printed; instead:\n{self.printed}")
            return
        until = time.monotonic() + PATIENCE_S
        process = self.started[-1][0]
        while not matches(pattern, self.printed.read_text(errors="replace")):
            if time.monotonic() > until or process.poll() is not None:
                raise Wrong(f"was not printed by what runs in the background; instead:\n{self.printed.read_text(errors='replace')}")
            time.sleep(0.05)

    def end(self):
        for process, *_ in reversed(self.started):
            stop(process)

    def still_runs(self):
        for process, log, may_end in self.started:
            if not may_end and process.poll() not in (None, 0):
                raise Wrong(f"what ran in the background ended with {process.returncode}:\n{log.read_text(errors='replace')[-4000:]}")

    def follow(self):
        """Returns how many blocks ran and how many outputs were compared."""
        ran, compared, left_out, ports = 0, 0, False, free_ports(self.text)
        for line, info, body in blocks_of(self.text):
            if info is None:
                left_out = False
                continue
            for port, replacement in ports.items():
                body = re.sub(rf"\b{port}\b", replacement, body)
            kind, _, rest = info.partition(" ")
            verb, _, what = rest.partition(" ")
            if kind in ("bash", "shell", "console"):
                raise Wrong(f"line {line}: a block of commands is called sh, and sh not-run where it is not run")
            if kind not in ("sh", "output") or left_out:
                continue
            began = time.monotonic()
            try:
                if kind == "output":
                    self.expect(body)
                    compared += 1
                elif verb == "not-run":
                    self.printed = None
                    if not what:
                        raise Wrong("not-run is followed by the reason")
                elif verb == "needs" and not self.has(what):
                    print(f"line {line}: left out up to the next heading: {what} is not there")
                    left_out = True
                elif verb == "background":
                    self.start(body, may_end=what == "ends")
                    ran += 1
                elif verb in ("", "fails", "needs"):
                    self.run(body, int(what) if verb == "fails" else 0)
                    ran += 1
                else:
                    raise Wrong(f"`{info}` says nothing that this test knows")
            except Wrong as wrong:
                raise Wrong(f"line {line}: {wrong}\n  the block is:\n{body}") from None
            if kind == "sh":
                print(f"line {line}: {time.monotonic() - began:.1f} s")
                if isinstance(self.printed, str):
                    print(self.printed, end="")
        self.still_runs()
        if ran == 0 or compared == 0:
            raise Wrong("the page has no block to run, or no output to compare")
        return ran, compared


def stop(process):
    """Ends a process that this test started, with what it started in its own session."""
    for number, patience in ((signal.SIGTERM, 15), (signal.SIGKILL, 5)):
        until = time.monotonic() + patience
        try:
            os.killpg(process.pid, number)
            while time.monotonic() < until:
                process.poll()
                os.killpg(process.pid, 0)
                time.sleep(0.02)
        except ProcessLookupError:
            return


def follow(text, source, binaries):
    with tempfile.TemporaryDirectory(prefix="assay-tutorial-", ignore_cleanup_errors=True) as folder:
        home = pathlib.Path(folder) / "home"
        home.mkdir()
        environment = {"PATH": f"{binaries}:{os.environ['PATH']}", "HOME": str(home), "ASSAY": str(source), "LC_ALL": "C.UTF-8"}
        page = Page(text, home, environment)
        try:
            return page.follow()
        finally:
            page.end()


def self_test():
    good = "```sh\necho one; echo two; export A=3\n```\n```output\none\n...\n```\n```sh\necho $A\n```\n```output\n3\n```\n"
    wrong = {
        "a command that fails": "```sh\nfalse\n```\n```output\n...\n```\n",
        "a command that fails before the last": "```sh\nfalse\ntrue\n```\n```output\n...\n```\n",
        "a command that does not fail": "```sh fails 3\ntrue\n```\n```output\n...\n```\n",
        "an output that is another": "```sh\necho one\n```\n```output\ntwo\n```\n",
        "an output with a line too few": "```sh\necho one; echo two; echo three\n```\n```output\none\nthree\n```\n",
        "an output that is the end of a line": "```sh\necho one two\n```\n```output\ntwo\n```\n",
        "no output at all": "```sh\ntrue\n```\n",
        "commands under another name": good + "```bash\ntrue\n```\n",
        "an unknown kind of block": good + "```sh sometimes\ntrue\n```\n",
        "a block that is not run without a reason": good + "```sh not-run\ntrue\n```\n",
        "a background that ends without its output": "```sh background\necho no &\n```\n```output\nyes\n```\n",
        "a background that fails later": "```sh background\necho yes; false &\n```\n```output\nyes\n```\n```sh\nsleep 0.2\n```\n",
        "a block that does not end": good + "```sh\ntrue\n",
    }
    right = {
        "a page that is right": good,
        "a command that fails as it says": "```sh fails 3\necho x; exit 3\n```\n```output\nx\n```\n",
        "a background": "```sh background\n{ echo up; sleep 100; } &\n```\n```output\nup\n```\n",
        "text within a line": "```sh\necho block 17 is here\n```\n```output\nblock ... is here\n```\n",
        "a directory that stays": "```sh\nmkdir d; cd d\n```\n```sh\nbasename $PWD\n```\n```output\nd\n```\n",
        "a program that is missing": good + "```sh needs no-such-program\nfalse\n```\n```output\nno\n```\n",
    }
    failed = 0
    for name, text in {**wrong, **right}.items():
        try:
            follow(text, pathlib.Path("."), "/nonexistent")
            found = False
        except Wrong:
            found = True
        if found != (name in wrong):
            failed += 1
        print(("ok      " if found == (name in wrong) else "FAILED  ") + name)
    return 1 if failed else 0


def main():
    if sys.argv[1:] == ["--self-test"]:
        return self_test()
    source, binaries, page = (pathlib.Path(a).resolve() for a in sys.argv[1:4])
    began = time.monotonic()
    try:
        ran, compared = follow(page.read_text(encoding="utf-8"), source, binaries)
    except Wrong as wrong:
        print(f"{page.name}: {wrong}")
        return 1
    print(f"{page.name}: {ran} blocks were run, {compared} outputs compared, in {time.monotonic() - began:.1f} s")
    return 0


if __name__ == "__main__":
    sys.exit(main())
