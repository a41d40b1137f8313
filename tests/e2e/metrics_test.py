#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The metrics of a node and of a worker, and what is written about them.

    metrics_test.py names ASSAYD ROOT [--write]   a node's scrape, the page of metrics, rules, dashboards and the runbook agree
    metrics_test.py rules ASSAYD ROOT             promtool accepts the scrape and the rules, and the rules' own tests pass
    metrics_test.py worker ASSAYD ROOT ASSAY_WORKER [--write]   the same of a worker's scrape and page; it says why it is idle

`names` serves a recorded chain (assayd inspect) and a chain of its own (assayd start) and scrapes both; --write writes the
table of docs/operations/metrics.md. `rules` exits 77 where promtool is not installed (Debian: the package prometheus).
`worker` starts a verifier that has no stake, and takes its node away. What `names` and `rules` check of a worker's metrics
is that the page has them, since the worker is not built everywhere.
"""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.request

NAME = re.compile(r"\b(?:assay|process)_[a-z0-9_]+\b")
BEGIN, END = "<!-- table: begin -->\n", "<!-- table: end -->\n"
WORKER_BEGIN, WORKER_END = "<!-- worker table: begin -->\n", "<!-- worker table: end -->\n"
SECONDS_MAX = 60


class Node:
    """assayd as a child, with its metrics on any free port of loopback."""

    def __init__(self, assayd, command, home):
        self.home = home
        (home / "data" / "metrics_address").unlink(missing_ok=True)
        self.process = subprocess.Popen(
            [assayd, command, "--home", str(home), "--rpc-port", "0", "--metrics-address", "127.0.0.1", "--metrics-port", "0"]
            + (["--block-interval-ms", "50"] if command == "start" else []),
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        line = self.process.stdout.readline()
        if "rpc " not in line:
            raise RuntimeError("assayd does not start: " + self.process.stderr.read())
        self.rpc = line.split("rpc ")[1].strip()
        self.url = (home / "data" / "metrics_address").read_text().strip()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.communicate(timeout=30)

    def scrape(self):
        with urllib.request.urlopen(self.url, timeout=10) as answer:
            return answer.read().decode("utf-8")

    def call(self, method, **params):
        body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).encode()
        request = urllib.request.Request(self.rpc, body, {"Content-Type": "application/json"})
        with urllib.request.urlopen(request, timeout=10) as answer:
            return json.load(answer)


def families(scrape):
    """name -> (type, help, labels) of a scrape."""
    found = {}
    for line in scrape.splitlines():
        if line.startswith("# HELP "):
            _, _, name, text = line.split(" ", 3)
            found[name] = [None, text, set()]
        elif line.startswith("# TYPE "):
            _, _, name, kind = line.split(" ")
            found[name][0] = kind
        else:
            name, labels = re.match(r"([a-z0-9_]+)(?:\{(.*)\})? ", line).groups()
            base = name if name in found else re.sub(r"_(bucket|sum|count)$", "", name)
            found[base][2] |= set(re.findall(r'([a-z_]+)="', labels or "")) - {"le"}
    return found


def table(known):
    rows = ["| metric | type | labels | what it says |\n", "|---|---|---|---|\n"]
    for name, (kind, text, labels) in known.items():
        rows.append(f"| `{name}` | {kind} | {', '.join(f'`{label}`' for label in sorted(labels))} | {text} |\n")
    return "".join(rows)


def declared(text):
    """The metrics of a worker as its table on the page has them: name -> [type, help, labels]."""
    part = text[text.index(WORKER_BEGIN):text.index(WORKER_END)]
    rows = re.findall(r"^\| `([a-z0-9_]+)` \| (\w+) \| ([^|]*) \| (.*) \|$", part, re.MULTILINE)
    return {name: [kind, words, set(re.findall(r"`([a-z_]+)`", labels))] for name, kind, labels, words in rows}


def names_in(text, known):
    """The metrics that a query or a rule names, without the suffixes of histograms."""
    out = set()
    for name in NAME.findall(text):
        base = re.sub(r"_(bucket|sum|count)$", "", name)
        out.add(base if base in known and known[base][0] == "histogram" else name)
    return out


def queries_of(dashboard):
    """Every expression of a dashboard, those of its variables too."""
    if isinstance(dashboard, dict):
        for key, value in dashboard.items():
            if key in ("expr", "query", "definition") and isinstance(value, str):
                yield value
            else:
                yield from queries_of(value)
    elif isinstance(dashboard, list):
        for item in dashboard:
            yield from queries_of(item)


def anchors(page):
    headings = re.findall(r"^#+ (.*)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^a-z0-9 -]", "", heading.lower()).replace(" ", "-") for heading in headings}


def check_alerts(root, known):
    complaints = []
    text = (root / "packaging/prometheus/alerts.yml").read_text(encoding="utf-8")
    parts = re.split(r"^ +- alert: (\w+)$", text, flags=re.MULTILINE)
    tested = (root / "packaging/prometheus/alerts_test.yml").read_text(encoding="utf-8")
    for alert, body in zip(parts[1::2], parts[2::2]):
        for field in ("severity", "summary", "description", "runbook_url"):
            if not re.search(rf"^ +{field}: ", body, re.MULTILINE):
                complaints.append(f"alert {alert} has no {field}")
        url = re.search(r'runbook_url: "([^"#]+)#([^"]+)"', body)
        if not url or not (root / url.group(1)).exists() or url.group(2) not in anchors(root / url.group(1)):
            complaints.append(f"alert {alert}: its runbook_url leads nowhere")
        complaints += [f"alert {alert} names {name}, which nothing has" for name in names_in(body, known) - set(known)]
        if f"alertname: {alert}\n" not in tested:
            complaints.append(f"alert {alert} has no test")
    return complaints if len(parts) > 10 else ["alerts.yml has hardly any alerts"]


def check_dashboards(root, known):
    complaints = []
    files = sorted((root / "packaging/grafana").glob("*.json"))
    for file in files:
        queries = list(queries_of(json.loads(file.read_text(encoding="utf-8"))))
        used = set().union(*(names_in(query, known) for query in queries))
        if not used:
            complaints.append(f"{file.name} has no queries")
        complaints += [f"{file.name} names {name}, which nothing has" for name in sorted(used - set(known))]
    return complaints if len(files) >= 4 else complaints + ["there are fewer than four dashboards"]


def check_counts(node, scrape):
    """The counters of a recorded chain against what JSON-RPC lists."""
    complaints = []
    for event, metric in (("paid", "assay_payments_total"), ("slashed", "assay_slashes_total"), ("submitted", "assay_tasks_submitted_total"),
                          ("dispute_moved", "assay_dispute_moves_total"), ("dispute_ended", "assay_disputes_ended_total")):
        counted = sum(float(line.rsplit(" ", 1)[1]) for line in scrape.splitlines() if re.match(metric + r"[{ ]", line))
        listed, cursor = 0, {}
        while cursor is not None:
            page = node.call("event_list", event=event, limit=100, **cursor)["result"]
            listed += len(page["events"])
            cursor = {"cursor": page["next_cursor"]} if page["next_cursor"] else None
        if counted != listed or counted == 0:
            complaints.append(f"{metric} is {counted}, and the node lists {listed} events {event}")
    return complaints


def scrapes(assayd, root):
    """A scrape of a recorded chain and one of a node at work, and what is wrong with them."""
    with tempfile.TemporaryDirectory(prefix="assay-metrics-") as folder:
        recorded, own = pathlib.Path(folder) / "recorded", pathlib.Path(folder) / "own"
        (recorded / "data").mkdir(parents=True)
        shutil.copy(root / "tests/vectors/chain/exact/genesis.json", recorded)
        shutil.copy(root / "tests/vectors/chain/exact/blocks.log", recorded / "data")
        with Node(assayd, "inspect", recorded) as node:
            first = node.scrape()
            complaints = check_counts(node, first)
        subprocess.run([assayd, "init", "--home", str(own)], check=True, capture_output=True, timeout=60)
        with Node(assayd, "start", own) as node:
            node.call("node_status")
            node.call("no_such_method")
            second, until = node.scrape(), time.monotonic() + SECONDS_MAX
            while "\nassay_blocks_executed_total " not in second and time.monotonic() < until:
                time.sleep(0.05)
                second = node.scrape()
            third = node.scrape()
        for sample in ('assay_rpc_calls_total{method="node_status",outcome="ok"} 1', 'assay_rpc_calls_total{method="unknown",outcome="method_not_found"} 1',
                       "assay_blocks_executed_total "):
            if "\n" + sample not in third:
                complaints.append(f"a node at work has no sample {sample}")
        if (own / "data/metrics_address").exists():
            complaints.append("data/metrics_address is left after the node has ended")
    return first, third, complaints


def check_names(assayd, root, write):
    first, second, complaints = scrapes(assayd, root)
    known, other = families(first), families(second)
    if list(known) != list(other):
        complaints.append("two nodes have different metrics: " + ", ".join(sorted(set(known) ^ set(other))))
    for name in known:
        known[name][2] |= other.get(name, [0, 0, set()])[2]
    page = root / "docs/operations/metrics.md"
    text = page.read_text(encoding="utf-8")
    # Labels of metrics that neither chain has samples of are declared on the page.
    for name, labels in re.findall(r"^\| `([a-z0-9_]+)` \| \w+ \| ([^|]*) \|", text, re.MULTILINE):
        if name in known and not known[name][2]:
            known[name][2] |= set(re.findall(r"`([a-z_]+)`", labels))
    wanted = text[:text.index(BEGIN)] + BEGIN + table(known) + text[text.index(END):]
    if write:
        page.write_text(wanted, encoding="utf-8")
    elif wanted != text:
        complaints.append(f"{page.relative_to(root)} is stale: metrics_test.py names ... --write")
    everything = {**declared(text), **known}
    complaints += check_alerts(root, everything) + check_dashboards(root, everything)
    for complaint in complaints:
        print(complaint)
    print(f"metrics: {len(known)} families, {len(complaints)} complaints")
    return 1 if complaints else 0


class Worker:
    """A verifier without stake as a child, with its metrics on any free port of loopback."""

    def __init__(self, worker, node_url, home):
        home.mkdir()
        key = home / "key"
        key.write_text("11" * 32 + "\n")
        key.chmod(0o600)
        self.home, self.log = home, home / "log.txt"
        with open(home / "out.txt", "w", encoding="utf-8") as out, open(home / "err.txt", "w", encoding="utf-8") as err:
            self.process = subprocess.Popen(
                [worker, "verify", "--home", str(home), "--key-hex-file", str(key), "--node", node_url, "--log-file", str(self.log),
                 "--metrics-address", "127.0.0.1", "--metrics-port", "0"], stdout=out, stderr=err)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.communicate(timeout=60)

    def await_text(self, of, wanted):
        """Calls `of` until what it returns has `wanted`; the last that it returned."""
        until, text = time.monotonic() + SECONDS_MAX, ""
        while wanted not in text and time.monotonic() < until:
            if self.process.poll() is not None:
                raise RuntimeError("assay-worker has ended: " + (self.home / "err.txt").read_text() + self.said())
            time.sleep(0.1)
            text = of()
        return text

    def said(self):
        return self.log.read_text(encoding="utf-8") if self.log.exists() else ""

    def scrape(self):
        address = self.home / "metrics_address"
        if not address.exists():
            return ""
        with urllib.request.urlopen(address.read_text().strip(), timeout=20) as answer:
            return answer.read().decode("utf-8")


def check_worker(assayd, root, worker, write):
    complaints = []
    with tempfile.TemporaryDirectory(prefix="assay-metrics-") as folder:
        folder = pathlib.Path(folder)
        subprocess.run([assayd, "init", "--home", str(folder / "node")], check=True, capture_output=True, timeout=60)
        with Node(assayd, "start", folder / "node") as node:
            verifier = Worker(worker, node.rpc, folder / "worker")
            with verifier:
                idle = 'assay_worker_idle{reason="no_stake"} 1\n'
                scrape = verifier.await_text(verifier.scrape, idle)
                first = verifier.await_text(verifier.said, "idle: ")
                time.sleep(5)  # it looks every three seconds, and says nothing twice
                again = verifier.said()
                node.process.terminate()
                node.process.wait(timeout=30)
                last = verifier.await_text(verifier.scrape, 'assay_worker_node_errors_total{kind="unreachable"}')
            for sample in (idle, "assay_worker_balance_grains 0\n", 'assay_worker_stake_grains{role="verifier",part="free"} 0\n'):
                if sample not in scrape:
                    complaints.append(f"a worker without stake has no sample {sample.strip()}")
            if "`assay stake bond verifier" not in first:
                complaints.append("the log of a worker without stake names no command that adds it: " + first)
            said = [line.split(" assay-worker: ", 1)[-1] for line in again.splitlines()]
            if any(line == before and line.startswith("idle: ") for before, line in zip(said, said[1:])):
                complaints.append("a worker says more than once why it is idle: " + again)
            for sample, there in (('assay_worker_idle{reason="no_node"} 1\n', True), ("assay_worker_balance_grains 0\n", False)):
                if (sample in last) != there:
                    complaints.append(f"without a node, the sample {sample.strip()} is {'missing' if there else 'there'}")
            if (folder / "worker/metrics_address").exists():
                complaints.append("metrics_address is left after the worker has ended")
    page = root / "docs/operations/metrics.md"
    text = page.read_text(encoding="utf-8")
    known, other = families(scrape), families(last)
    for name in known:
        known[name][2] |= other[name][2]
        known[name][2] |= declared(text).get(name, [0, 0, set()])[2] if not known[name][2] else set()
    own = {name: row for name, row in known.items() if name.startswith("assay_")}
    wanted = text[:text.index(WORKER_BEGIN)] + WORKER_BEGIN + table(own) + text[text.index(WORKER_END):]
    if write:
        page.write_text(wanted, encoding="utf-8")
    elif wanted != text:
        complaints.append(f"{page.relative_to(root)} is stale: metrics_test.py worker ... --write")
    promtool = find_promtool()
    if promtool:
        run = subprocess.run([promtool, "check", "metrics"], input=scrape, capture_output=True, text=True, timeout=120)
        if run.returncode != 0 or run.stderr.strip():
            complaints.append("promtool: " + run.stdout + run.stderr)
    for complaint in complaints:
        print(complaint)
    print(f"metrics: {len(own)} families of a worker, {len(complaints)} complaints")
    return 1 if complaints else 0


def find_promtool():
    places = os.pathsep.join([os.environ.get("PATH", ""), str(pathlib.Path.home() / "go/bin")])
    return shutil.which("promtool", path=places)


def check_rules(assayd, root):
    promtool = find_promtool()
    if promtool is None:
        print("skipped: there is no promtool (Debian: apt-get install prometheus)")
        return 77
    first, second, complaints = scrapes(assayd, root)
    failed = bool(complaints)
    folder = root / "packaging/prometheus"
    steps = [(["check", "metrics"], first), (["check", "metrics"], second), (["check", "rules", str(folder / "alerts.yml")], None),
             (["test", "rules", str(folder / "alerts_test.yml")], None)]
    for arguments, text in steps:
        run = subprocess.run([promtool, *arguments], input=text, capture_output=True, text=True, timeout=120)
        print("promtool", *arguments[:2], "->", run.returncode)
        if run.returncode != 0 or (text is not None and run.stderr.strip()):
            print(run.stdout + run.stderr)
            failed = True
    return 1 if failed else 0


def main():
    if len(sys.argv) < 4 or sys.argv[1] not in ("names", "rules", "worker"):
        print(__doc__)
        return 2
    assayd, root = sys.argv[2], pathlib.Path(sys.argv[3]).resolve()
    if sys.argv[1] == "worker":
        return check_worker(assayd, root, sys.argv[4], "--write" in sys.argv)
    return check_names(assayd, root, "--write" in sys.argv) if sys.argv[1] == "names" else check_rules(assayd, root)


if __name__ == "__main__":
    sys.exit(main())
