# SPDX-License-Identifier: Apache-2.0
"""The part of packages_test.py that installs. It runs in a mount namespace of its own:

    installed.py WORK COMPONENT...

WORK has the packages of revision 1 in first/ and of revision 2 in second/.
"""
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import sys
import time

PROGRAMS = {"node": "assayd", "cli": "assay", "worker": "assay-worker"}
UNITS = {"node": "assayd", "worker": "assay-worker"}
STATES = {"node": "/var/lib/assay", "worker": "/var/lib/assay-worker"}
USERS = {"node": "assay", "worker": "assay-worker"}


def check(condition, claim):
    if not condition:
        raise SystemExit(f"FAILED: {claim}")
    print(f"ok: {claim}", flush=True)


class Machine:
    """A copy of this machine to install in: an overlay, whose upper layer is in memory."""

    def __init__(self, work):
        base = work / "overlay"
        base.mkdir()
        subprocess.run(["mount", "-t", "tmpfs", "none", base], check=True)
        for name in ("upper", "work", "root"):
            (base / name).mkdir()
        self.root = base / "root"
        layers = f"lowerdir=/,upperdir={base}/upper,workdir={base}/work"
        subprocess.run(["mount", "-t", "overlay", "none", "-o", layers, self.root], check=True)
        for name in ("proc", "dev"):
            subprocess.run(["mount", "--bind", f"/{name}", self.root / name], check=True)
        # A scratch folder that is none of the machine's: sockets cannot be reached through an overlay's lower layer.
        subprocess.run(["mount", "-t", "tmpfs", "none", self.root / "tmp"], check=True)
        # This machine may have the packages installed already.
        self.run("dpkg", "--purge", *("assay-" + name for name in PROGRAMS), may_fail=True)

    def path(self, name):
        return self.root / str(name).lstrip("/")

    def run(self, *command, may_fail=False, **options):
        environment = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL": "C.UTF-8", "HOME": "/root", "DEBIAN_FRONTEND": "noninteractive",
                       **options.pop("env", {})}
        done = subprocess.run(["chroot", self.root, *map(str, command)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                              stdin=subprocess.DEVNULL, env=environment, timeout=300, **options)
        if done.returncode != 0 and not may_fail:
            raise SystemExit(f"{' '.join(map(str, command))} ended with {done.returncode}:\n{done.stdout}")
        return done.stdout

    def dpkg(self, option, folder):
        inside = self.path("tmp") / folder.name
        shutil.copytree(folder, inside, dirs_exist_ok=True)
        return self.run("dpkg", option, *(f"/tmp/{folder.name}/{deb.name}" for deb in sorted(inside.glob("*.deb"))))


def check_files(machine, component):
    program = PROGRAMS[component]
    names = [f"/usr/bin/{program}", f"/usr/share/bash-completion/completions/{program}", f"/usr/share/zsh/vendor-completions/_{program}",
             f"/usr/share/fish/vendor_completions.d/{program}.fish", f"/usr/share/man/man1/{program}.1.gz",
             f"/usr/share/doc/assay-{component}/copyright", f"/usr/share/doc/assay-{component}/changelog.Debian.gz"]
    if component == "worker":
        names += ["/usr/share/applications/assay-worker.desktop", "/usr/share/icons/hicolor/scalable/apps/assay-worker.svg"]
    if component in ("cli", "worker"):
        names.append(f"/usr/lib/assay-{component}/assay-parser")
    if component in UNITS:
        names += [f"/usr/lib/systemd/system/{UNITS[component]}.service", f"/usr/lib/sysusers.d/assay-{component}.conf",
                  f"/usr/lib/tmpfiles.d/assay-{component}.conf", f"/etc/assay/{component}.env"]
    missing = [name for name in names if not machine.path(name).is_file()]
    check(not missing, f"assay-{component} has its {len(names)} files (missing: {missing})")
    listed = machine.run("dpkg", "-L", f"assay-{component}").split()
    check(not [name for name in listed if machine.path(name).stat().st_mode & 0o022], f"nothing of assay-{component} can be written by others")


def check_shells(machine, component):
    program = PROGRAMS[component]
    bash = f"/usr/share/bash-completion/completions/{program}"
    check(f"_{program.replace('-', '_')} {program}" in machine.run("bash", "-c", f"source {bash}; complete -p {program}"),
          f"bash loads the completion of {program}")
    # What the function answers when the cursor stands behind the program's name, and behind an option with choices.
    function = "_" + program.replace("-", "_")

    def answer(*words):
        line = " ".join(f"'{word}'" for word in words)
        return machine.run("bash", "-c", f"source {bash}; COMP_WORDS=({line}); COMP_CWORD={len(words) - 1}; {function}; echo ${{COMPREPLY[*]}}").split()
    first = {"node": ("in", {"init", "inspect"}), "cli": ("au", {"audit"}), "worker": ("ver", {"verify"})}[component]
    check(set(answer(program, first[0])) == first[1], f"bash completes {program} {first[0]}")
    command = {"node": "version", "cli": "", "worker": "benchmark"}[component]
    words = [program] + ([command] if command else [])
    check(answer(*words, "-o", "") == ["text", "json"], f"bash completes the choices of {' '.join(words)} -o")
    check(answer(*words, "--output", "=", "j") == ["json"], "also behind an equals sign")
    if machine.path("/usr/bin/zsh").exists():
        machine.run("zsh", "-n", f"/usr/share/zsh/vendor-completions/_{program}")
        check(True, "zsh reads the script")
    if machine.path("/usr/bin/fish").exists():
        found = machine.run("fish", "--no-config", "-c", f"source /usr/share/fish/vendor_completions.d/{program}.fish; complete -C '{program} {first[0]}'")
        check({line.split("\t")[0] for line in found.splitlines()} == first[1], f"fish completes {program} {first[0]}")


def check_manual(machine, component):
    program = PROGRAMS[component]
    if not machine.path("/usr/bin/groff").exists():
        print("note: groff is not installed, so the manual was not rendered")
        return
    text = machine.run("sh", "-c", f"zcat /usr/share/man/man1/{program}.1.gz | groff -ww -man -Tutf8 -P-cbou")
    check(not re.search(r"^\w*(roff|grotty): ", text, re.MULTILINE) and "COMMANDS" in text, f"the manual of {program} renders without a warning")
    listed = machine.run(program, "--help").split("Subcommands:")[1].splitlines()
    commands = [line.split()[0] for line in listed if line.startswith("  ") and line[2] != " "]
    check(commands and all(f"   {command}" in text for command in commands), f"it has each of the {len(commands)} commands of {program}")
    check("completion" not in commands, "the hidden commands stay hidden")


def check_unit(machine, component):
    unit = UNITS[component]
    if machine.path("/usr/bin/systemd-analyze").exists():
        said = machine.run("systemd-analyze", "verify", "--man=no", f"/usr/lib/systemd/system/{unit}.service")
        check(said.strip() == "", f"systemd finds nothing wrong with {unit}.service: {said.strip()}")
    user = machine.run("stat", "-c", "%U:%G %a", STATES[component]).strip()
    check(user == f"{USERS[component]}:{USERS[component]} 750", f"{STATES[component]} is {user}")


def start_node(machine):
    """The node as its unit starts it, with this test in place of systemd."""
    home = STATES["node"]
    manager = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    manager.bind(str(machine.path("/tmp/notify")))
    os.chmod(machine.path("/tmp/notify"), 0o666)
    manager.settimeout(60)
    user = machine.run("id", "-u", USERS["node"]).strip()
    node = subprocess.Popen(
        ["chroot", f"--userspec={user}:{user}", machine.root, "/usr/bin/assayd", "start", "--home", home, "--rpc-port", "0"],
        env={"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "NOTIFY_SOCKET": "/tmp/notify", "WATCHDOG_USEC": "1000000"}, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        message = manager.recv(500).decode()
        check(message.startswith("READY=1\nSTATUS=chain "), f"the node says {message!r}")
        check(machine.path(f"{home}/data/rpc_address").exists(), "when its RPC is bound")
        begin = time.monotonic()
        beats = [manager.recv(500).decode() for _ in range(3)]
        check(beats == ["WATCHDOG=1"] * 3, f"and WATCHDOG=1 three times in {time.monotonic() - begin:.1f} s")
        node.send_signal(signal.SIGTERM)
        while (message := manager.recv(500).decode()) == "WATCHDOG=1":
            pass
        check(message == "STOPPING=1", "and STOPPING=1 after SIGTERM")
        check(node.wait(60) == 0, "it ends with 0")
    finally:
        if node.poll() is None:
            node.kill()
            node.wait()


def main():
    work, components = pathlib.Path(sys.argv[1]), sys.argv[2:]
    machine = Machine(work)
    machine.dpkg("--install", work / "first")
    services = [name for name in components if name in UNITS]
    for component in components:
        check_files(machine, component)
        check_shells(machine, component)
        check_manual(machine, component)
    for component in services:
        check_unit(machine, component)
        machine.path(f"/etc/assay/{component}.env").write_text("# changed by the operator\n")
        machine.path(f"{STATES[component]}/account.key").write_text("a key")
    if "node" in components:
        machine.run("setpriv", "--reuid", USERS["node"], "--regid", USERS["node"], "--clear-groups", "assayd", "init", "--home", STATES["node"])
        start_node(machine)
    before = {name: machine.run("find", STATES[name], "-type", "f", "-exec", "sha256sum", "{}", "+") for name in services}

    machine.dpkg("--install", work / "second")
    versions = machine.run("dpkg-query", "-W", "-f=${Version} ", *("assay-" + name for name in components)).split()
    check(all(version.endswith("-2") for version in versions), f"upgraded to {versions}")
    for name in services:
        check(machine.path(f"/etc/assay/{name}.env").read_text() == "# changed by the operator\n", f"the upgrade keeps {name}.env")
        check(machine.run("find", STATES[name], "-type", "f", "-exec", "sha256sum", "{}", "+") == before[name],
              f"and the {len(before[name].splitlines())} files in {STATES[name]}")

    packages = ["assay-" + name for name in components]
    machine.run("dpkg", "--remove", *packages)
    check(not any(machine.path(f"/usr/bin/{PROGRAMS[name]}").exists() for name in components), "removal takes the programs away")
    check(all(machine.path(f"/etc/assay/{name}.env").exists() for name in services), "and leaves the settings")
    said = machine.run("dpkg", "--purge", *packages)
    check(not machine.path("/etc/assay").exists(), "purge takes the settings away")
    for name in services:
        check(f"assay-{name}: {STATES[name]} with its keys" in said, f"purge says that it leaves {STATES[name]}")
        check(machine.run("find", STATES[name], "-type", "f", "-exec", "sha256sum", "{}", "+") == before[name], "and leaves it")


if __name__ == "__main__":
    main()
