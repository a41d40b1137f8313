#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A solver that `assay-worker run` starts in an image, and a task that asks for that image and for checks of its result.

    images_test.py BIN SOURCE

The image has labels and no files: the container sees the system's libraries and the worker of this build. Where podman is missing
or cannot run containers, a stand-in that answers as podman does starts the worker beside the test, and the reason is printed.
Prints what it did; exits 1 and says what is wrong otherwise.
"""
import json
import pathlib
import shutil
import subprocess
import sys
import tarfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from place import ASSAY, BIN, SOURCE, WORKER, check, free_port, make_chain, run, until  # noqa: E402

LABELS = ["cuda=12.4", "driver=550"]
READ_ONLY = ["/usr", "/etc/alternatives", str(BIN)]
LIMITS = ["--ulimit=nofile=1024:1024", "--ulimit=nproc=1024:1024", "--cgroups=disabled"]
PRIVATE_CGROUP = "exec unshare -m --propagation private sh -c 'mount --bind /sys/fs/cgroup/unified /sys/fs/cgroup && exec \"$@\"' -- "
STAND_IN = '''#!{python}
import json, os, sys
words = sys.argv[1:]
image = [{{"Id": "{id}", "Digest": "{digest}", "Labels": {labels}}}]
if words[0] in ("images", "image"):
    print(json.dumps(image))
elif words[0] == "run":
    options = words[:words.index("{id}")]
    value = lambda name: [word.split("=", 1)[1] for word in options if word.startswith(name + "=")]
    statement = next(volume.split(":")[0] for volume in value("--volume") if "/run/assay/" in volume)
    given = [statement if word == "/run/assay/environment.json" else word for word in words[len(options) + 1:]]
    os.execv(value("--entrypoint")[0], value("--entrypoint") + given)
'''


def volumes():
    return [f"--volume={path}:{path}:ro" for path in READ_ONLY]


def write_program(path, text):
    path.write_text(text)
    path.chmod(0o755)
    return path


class Containers:
    """How containers run on this machine: `program` is a podman, `options` are what its containers need."""

    def __init__(self, root):
        self.root, self.why = root, None
        self.options = volumes()
        try:
            self.find_podman()
        except (OSError, subprocess.SubprocessError, AssertionError) as error:
            self.why = str(error)
            self.stand_in()

    def call(self, *words):
        done = subprocess.run([str(self.program), *words], capture_output=True, text=True, timeout=120, stdin=subprocess.DEVNULL)
        check(done.returncode == 0, f"podman {words[0]} ended with {done.returncode}: {done.stderr.strip()[-200:]}")
        return done.stdout

    def find_podman(self):
        podman = shutil.which("podman")
        check(podman is not None, "podman is not installed")
        command = f'{podman} --root {self.root}/images --runroot {self.root}/run --storage-driver vfs "$@"\n'
        self.program = write_program(self.root / "podman", f"#!/bin/sh\nexec {command}")
        archive = self.root / "image.tar"
        with tarfile.open(archive, "w") as tar:
            for name in ("usr", "etc/alternatives", "run/assay", "tmp", "proc", "dev", "sys"):
                entry = tarfile.TarInfo(name)
                entry.type, entry.mode = tarfile.DIRTYPE, 0o755
                tar.addfile(entry)
            for name in ("bin", "lib", "lib64"):
                entry = tarfile.TarInfo(name)
                entry.type, entry.linkname = tarfile.SYMTYPE, f"usr/{name}"
                tar.addfile(entry)
        labels = [word for label in LABELS for word in ("--change", f"LABEL {label}")]
        self.call("import", "--quiet", *labels, str(archive), "localhost/assay-test:1")
        self.digest = json.loads(self.call("image", "inspect", "localhost/assay-test:1"))[0]["Digest"]
        self.find_options(command)

    def find_options(self, command):
        """Some machines give no right to raise limits, and mount control groups of both versions."""
        errors = []
        for prefix, options in (("exec ", []), ("exec ", LIMITS), (PRIVATE_CGROUP, LIMITS)):
            self.program = write_program(self.root / "podman", f"#!/bin/sh\n{prefix}{command}")
            try:
                self.call("run", "--rm", "--pull=never", "--network=host", "--cap-drop=all", "--security-opt=no-new-privileges",
                          *volumes(), *options, "localhost/assay-test:1", "/usr/bin/true")
                self.options = volumes() + options
                return
            except AssertionError as error:
                errors.append(str(error))
        raise AssertionError("; ".join(errors))

    def stand_in(self):
        self.digest = "sha256:" + "d" * 64
        labels = json.dumps(dict(label.split("=") for label in LABELS))
        self.program = write_program(self.root / "podman", STAND_IN.format(python=sys.executable, id="1" * 64, digest=self.digest, labels=labels))

    def command(self, *words):
        return [WORKER, "run", "--podman", self.program, *(f"--podman-option={option}" for option in self.options), "--program", WORKER, *words]


def refuse(containers, home):
    """What is not what was asked for is not started; each exit code says why."""
    def ends(code, *words, program=None, text=""):
        command = [str(word) for word in containers.command(*words)]
        if program:
            command[command.index("--podman") + 1] = program
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, stdin=subprocess.DEVNULL)
        check(done.returncode == code and text in done.stderr, f"{words}: {done.returncode} {done.stderr}")
        return done.stdout
    image = ["--image", containers.digest]
    ends(10, *image, "--label", "cuda=12.5", "--check", text="cuda=12.4")
    ends(10, "--image", "sha256:" + "0" * 64, "--check", text="podman pull")
    ends(10, *image, "--allow-image", "sha256:" + "0" * 64, "--check", text="--allow-image")
    ends(2, *image, "--label", "cuda", "--check", text="key=value")
    ends(2, *image, "--home", home, text="--home DIR, and its own arguments after --")
    ends(2, *image, "--pull", "--check", text="NAME@DIGEST")
    ends(1, *image, "--check", program="no-such-podman", text="install podman")
    found = json.loads(ends(0, *image, "--label", LABELS[0], "--check", "-o", "json"))
    check(found["environment"] == {"image": containers.digest, "labels": LABELS[:1]}, found)


def make_worker(place, role, coins):
    address = place.assay("keys", "new", role)["account"]
    place.assay("account", "send", address, f"{coins} ASY", "--from", "bank")
    kind = "verifier" if role == "verifier" else "solver"
    place.assay("stake", "bond", kind, f"{coins - 5} ASY", "--from", role)
    home = place.root / f"worker-{role}"
    home.mkdir()
    shutil.copy(place.root / "me/keys" / f"{role}.json", home / "key.json")
    options = ["--key", home / "key.json", "--node", place.node, "--allow-private-addresses"]
    return address, home, options


def submit(place, digest):
    task = place.root / "task"
    shutil.copytree(SOURCE / "examples/mlp", task)
    with open(task / "task.toml", "a", encoding="utf-8") as file:
        file.write(f'\n[environment]\nimage = "{digest}"\nlabels = ["{LABELS[0]}"]\n\n[checks]\nfinite = ["*"]\n')
        file.write('[checks.labels]\n"output.weight" = 10\n')
    location = f"127.0.0.1:{free_port()}"
    place.start("store", [ASSAY, "--home", place.root / "me", "task", "serve", "--store", place.root / "store", "--listen", location], location)
    return place.assay("task", "submit", task, "--store", place.root / "store", "--location", f"http://{location}", "--from", "bank")["task"]


def keep_offers(place, containers):
    """Who registers a machine again offers what it has offered before, unless it says otherwise."""
    def offers_after(*words):
        said = place.assay("stake", "register", "solver", "any", "--score", "0", "--from", "solver", *words)
        shown = place.assay("stake", "show", said_account)["roles"]["solver"]["terms"]["offers"]
        check(shown == said["offers"], f"{shown} is not what was registered: {said}")
        return shown
    said_account = place.assay("keys", "show", "solver")["account"]
    offered = place.assay("stake", "show", said_account)["roles"]["solver"]["terms"]["offers"]
    check(len(offered) == 1 + len(LABELS), f"the worker offers {offered}")
    check(offers_after() == offered, "what the worker offers was dropped")
    image = offers_after("--image", containers.digest)
    check(len(image) == 1 and image[0] in offered, f"{image} is not the image of {offered}")
    check(offers_after("--no-environment") == [], "something is still offered")
    both = offers_after("--image", containers.digest, *(word for label in reversed(LABELS) for word in ("--label", label)))
    check(both == offered, f"{both} is not {offered}")
    for wrong in (["--image", containers.digest[7:]], ["--label", "cuda"], ["--label", "a=b", "--no-environment"]):
        refused = place.assay("stake", "register", "solver", "any", "--score", "0", "--from", "solver", *wrong, fails=True)
        check(refused["error"]["name"] == "usage", refused)


def play(place, containers):
    make_chain(place)
    # A richer solver that runs in no image is never drawn for it.
    _, plain_home, plain = make_worker(place, "plain", 1_000)
    place.start("plain", [WORKER, "solve", "--home", plain_home, *plain], "ready")
    solver, home, options = make_worker(place, "solver", 200)
    refuse(containers, home)
    launched, log = place.start("solver", containers.command(
        "--image", containers.digest, *(word for label in LABELS for word in ("--label", label)), "--home", home, "--", "solve", *options), "ready")
    stated = {"image": containers.digest, "labels": LABELS}
    until("the solver's registration", lambda: "listed" in log.read_text())
    _, verifier_home, verifier = make_worker(place, "verifier", 2_105)
    place.start("verifier", [WORKER, "verify", "--home", verifier_home, *verifier], "ready")
    task = submit(place, containers.digest)
    until("the settlement", lambda: place.state(task) == "settled")
    record = place.assay("task", "status", task)
    check(record["solver"] == solver, f"the solver is {record['solver']}")
    check(record["environment"] == {"image": containers.digest, "labels": LABELS[:1]}, record["environment"])
    events = place.assay("task", "history", task)["records"]
    claims = [event["environment"] for event in events if event["event"] in ("accepted", "checkpoint_posted")]
    check(len(claims) == len(record["checkpoints"]) + 1 and all(claim == stated for claim in claims), claims)
    drawn = [event["solver"] for event in events if event["event"] == "solver_drawn"]
    check(drawn == [solver], f"drawn: {drawn}")
    reports = [assignment["failed_checks"] for assignment in record["assignments"]]
    check(reports and all(report == [1] for report in reports), f"weights are finite and no labels: {reports}")
    launched.terminate()
    check(launched.wait(timeout=90) == 0, f"the launcher ended with {launched.returncode}: {log.read_text()}")
    keep_offers(place, containers)
    print(f"{len(claims)} statements of {containers.digest[:19]}.. and {len(reports)} reports of one failed check; the plain solver was not drawn")


def play_in_containers(place):
    containers = Containers(place.root)
    print(f"no containers here: {containers.why}" if containers.why else "in containers of podman")
    play(place, containers)


if __name__ == "__main__":
    sys.exit(run("images", play_in_containers))
