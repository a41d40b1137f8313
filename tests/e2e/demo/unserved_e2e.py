#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A lead that shows its checkpoints to nobody has no member that signs anything about the segments that begin with them.

    unserved_e2e.py BIN SOURCE

An honest member joins a group whose lead posts checkpoints and serves none of them. If the member took part in a segment, an accomplice of
the lead could accuse it falsely, and it could not replay the segment to defend itself. So it says that it cannot fetch the state, and signs
nothing. Prints what it did; exits 1 and says what is wrong otherwise.
"""
import pathlib
import shutil
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from place import ASSAY, BIN, SOURCE, WORKER, check, free_port, make_chain, run, until  # noqa: E402

LACK = "takes no part in segment 1 until it can fetch the state of checkpoint 0"


def make_account(place, name, role, coins):
    account = place.assay("keys", "new", name)["account"]
    place.assay("account", "send", account, f"{coins} ASY", "--from", "bank")
    return account, lambda: place.assay("stake", "bond", role, f"{coins - 5} ASY", "--from", name)


def start_worker(place, program, mode, name, *more):
    command = [program, mode, "--home", place.root / name, "--key", place.root / "me/keys" / f"{name}.json", "--node", place.node,
               "--allow-private-addresses", *more]
    return place.start(name, command, "assay-worker ready")


def submit(place):
    location = f"127.0.0.1:{free_port()}"
    store = place.root / "served"
    place.start("store", [ASSAY, "--home", place.root / "me", "task", "serve", "--store", store, "--listen", location], location)
    directory = place.root / "task"
    shutil.copytree(SOURCE / "examples/mlp", directory)
    file = directory / "task.toml"
    lines = [line for line in file.read_text().splitlines() if not line.startswith(("steps", "checkpoint_interval", "batch_size"))]
    at = next(number for number, line in enumerate(lines) if line.startswith("["))
    lines[at:at] = ["steps = 200", "checkpoint_interval = 50", "members = 2"]
    at = next(number for number, line in enumerate(lines) if line == "[model]")
    lines.insert(at + 1, "batch_size = 64")
    file.write_text("\n".join(lines) + "\n")
    return place.assay("task", "submit", directory, "--store", store, "--location", f"http://{location}", "--from", "bank")["task"]


def play(place):
    make_chain(place)
    _, bond_lead = make_account(place, "lead", "solver", 200)
    member, bond_member = make_account(place, "member", "solver", 200)
    _, bond_verifier = make_account(place, "verifier", "verifier", 2105)
    bond_verifier()
    bond_lead()
    served = f"127.0.0.1:{free_port()}"
    _, lead_log = start_worker(place, BIN / "assay-adversary", "solve", "lead", "--dishonest", "withhold-all", "--listen", served, "--partner", member,
                               "--together", "dp", "--link-address", "127.0.0.1")
    start_worker(place, WORKER, "verify", "verifier")
    task = submit(place)
    until("the draw of the lead, which is the only solver", lambda: place.state(task) == "drawn")
    bond_member()
    _, log = start_worker(place, WORKER, "solve", "member", "--lead", f"http://{served}", "--link-address", "127.0.0.1")
    until("the group", lambda: place.state(task) == "training")
    until("the member's word that it cannot fetch the first state", lambda: LACK in log.read_text())
    # The lead has opened a session, in which the member is asked for nothing that it would sign.
    until("a session", lambda: "\ntogether " in lead_log.read_text() or "\ntogether_over" in lead_log.read_text())
    told = list((place.root / "member" / "told").rglob("*"))
    check(not [file for file in told if file.is_file() and file.stat().st_size], f"the member was told something of a segment: {told}")
    check("together_over" not in log.read_text() or " steps=0 " in log.read_text(), "the member has computed a step")
    print("the member signs nothing of a segment whose first state it cannot fetch")


if __name__ == "__main__":
    sys.exit(run("unserved", play))
