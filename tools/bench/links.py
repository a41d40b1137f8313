#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Step times of cells over emulated links, beside what `assay plan` predicts from what `assay-worker measure-links` measures.

    sudo python3 tools/bench/links.py build/release/bin OUT.json [--cases mlp-dp-4-100-20 ...] [--steps N]
    sudo python3 tools/bench/links.py build/release/bin OUT.json --again

With `--signed` the ranks belong to several accounts, and steps whose messages are signed take turns with steps whose
messages are not. They compute as fast as they can, so there should be a core for each rank.

Each rank runs in a network namespace of its own (emulated_links.py). Ranks are held to a speed: they sleep until what they have
computed has taken as long as on a machine of that speed, since some cores cannot compute for so many ranks as machines of their
own would."""

import argparse
import json
import math
import os
import pathlib
import re
import shutil
import statistics
import subprocess
import sys
import tempfile

from emulated_links import Links, address, all_ranks, missing

SECRET = "links of a benchmark"
PORT = 4100
# All ranks of it send at once, and none sleeps: what a byte costs to forward then is what a step has to wait for.
BUSY = {"name": "busy", "model": "mlp", "plan": "dp", "ranks": 4, "speed": 1e15, "steps": 10, "warm_up": 1}


def hosts_text(ranks):
    """The file of a cell whose rank r is the member mr, and rank 0 the lead."""
    out = f'lead = "{address(0)}:{PORT}"\nsecret = "{SECRET}"\nlinks = "tls"\n'
    for rank in range(1, ranks):
        out += f'\n[[members]]\nname = "m{rank}"\naddress = "{address(rank)}"\n'
    return out


def at_speeds(members, multiply_adds_per_s):
    """The members file with the speeds that ranks are held to, in place of what was measured of this machine's."""
    speeds = iter(multiply_adds_per_s)
    return re.sub(r"(?m)^multiply_adds_per_s = .*$", lambda _: f"multiply_adds_per_s = {next(speeds):.6e}", members)


def speeds_of(case):
    """The speed of each rank: one may be slower than the others."""
    return [case["speed"] / (case["slowed_by"] if rank == case.get("slow") else 1) for rank in range(case["ranks"])]


def links_of(members):
    """Delays in ms and rates in Mbit/s of a members file: smallest, median, largest."""
    delays = sorted(float(x) for x in re.findall(r"(?m)^delay_ms = (.*)$", members))
    rates = sorted(1e3 * float(x) for x in re.findall(r"(?m)^gbit_per_s = (.*)$", members))
    three = lambda values: [round(values[0], 3), round(statistics.median(values), 3), round(values[-1], 3)]
    return {"delay_ms": three(delays), "mbit": three(rates)}


OVERHEADS = ("transfer_ns_per_byte", "transfer_us_per_message", "sum_ns_per_byte")


def overheads_of(members, forwarded, cores):
    """What messages cost the processors by a members file, and what it cost to forward each byte. All are on this machine's
    cores."""
    out = {}
    for key in OVERHEADS:
        values = [float(x) for x in re.findall(rf"(?m)^{key} = (.*)$", members)]
        out[key] = round(statistics.median(values), 4)
    out["forward_ns_per_byte"] = round(1e9 * forwarded["cpu_s"] / forwarded["bytes"], 4) if forwarded else 0.0
    return out | {"cores": cores}


def shared_text(overheads):
    """What forwards is one thread, and no faster than that with what all ranks send: a switch that all links share."""
    each = overheads["forward_ns_per_byte"] if overheads else 0.0
    return f"shared_gbit_per_s = {8 / each:.5f}\n" if each else ""


def overhead_text(overheads):
    """Of one member: half of what a byte costs to forward is at either end. Nothing if they were not measured."""
    if not overheads:
        return ""
    values = {key: overheads[key] for key in OVERHEADS}
    values["transfer_ns_per_byte"] += overheads["forward_ns_per_byte"] / 2
    lines = [f"{key} = {value:.4f}" for key, value in values.items()]
    return "\n".join(lines + ['host = "this one"', f"cores = {overheads['cores']}"]) + "\n"


def members_of_links(links):
    """A members file with what links_of() told of another one."""
    return f"memory_bytes = {1 << 30}\ndelay_ms = {links['delay_ms'][1]}\ngbit_per_s = {links['mbit'][1] / 1e3}\n"


def members_of_all(members, ranks, overheads):
    """A members file for more machines than were measured, with links and overheads that are the median of those that were."""
    links = links_of(members)
    memory = max(int(x) for x in re.findall(r"(?m)^memory_bytes = (.*)$", members))
    out = shared_text(overheads) + f"[default]\ndelay_ms = {links['delay_ms'][1]}\ngbit_per_s = {links['mbit'][1] / 1e3}\n"
    for rank in range(ranks):
        name = "lead" if rank == 0 else f"m{rank}"
        out += f'\n[[members]]\nname = "{name}"\nmultiply_adds_per_s = 1\nmemory_bytes = {memory}\n' + overhead_text(overheads)
    return out


def summary(steps, predicted_s):
    """Of the lead's steps."""
    steps = sorted(steps)
    median = statistics.median(steps)
    return {
        "predicted_s": round(predicted_s, 5),
        "measured_s": {"median": round(median, 5), "min": round(steps[0], 5), "max": round(steps[-1], 5)},
        "predicted_over_measured": round(predicted_s / median, 4),
    }


def rounds_of(steps, round_steps):
    """How long rounds take. The lead's calls for a round's other turns take no time, since all turns are run at once."""
    return [round(sum(steps[i : i + round_steps]), 4) for i in range(0, len(steps) - round_steps + 1, round_steps)]


def utilisation(rounds, turn_steps, held_step_s):
    """What the ranks compute of the time of a round."""
    return {"utilisation": round(turn_steps * held_step_s / statistics.median(rounds), 4)}


class Bench:
    def __init__(self, bin_folder, seconds):
        self.bin = pathlib.Path(bin_folder).resolve()
        self.seconds = seconds
        self.measured = {}  # members files by link class, and the overheads with which they were measured

    def measure(self, mbit, delay_ms, ranks, folder):
        """What assay-worker measure-links measures between some ranks."""
        if (mbit, delay_ms) not in self.measured:
            links = Links(self.bin / "assay-bench", ranks, mbit, delay_ms)
            try:
                (folder / "hosts.toml").write_text(hosts_text(ranks))
                common = [self.bin / "assay-worker", "measure-links", "--cell", folder / "hosts.toml", "--seconds", self.seconds]
                all_ranks(links, common + ["--out", folder / "members.toml"], lambda rank: common + ["--name", f"m{rank}"], folder,
                          3600)
            finally:
                links.close()
            members = (folder / "members.toml").read_text()
            forwarded = self.forward_busily(mbit, delay_ms, folder / "busy") if links.forwarder is not None else {}
            self.measured[mbit, delay_ms] = members, overheads_of(members, forwarded, len(os.sched_getaffinity(0)))
        return self.measured[mbit, delay_ms]

    def forward_busily(self, mbit, delay_ms, folder):
        """What the forwarder says after a training whose ranks compute as fast as they can."""
        case = BUSY | {"mbit": mbit, "delay_ms": delay_ms}
        write_task(folder / "task", case)
        return self.train(case, folder / "task", folder)[1]

    def predict(self, task, members, plan, folder):
        (folder / "plan.toml").write_text(members)
        told = subprocess.run([self.bin / "assay", "--output", "json", "plan", task, "--members", folder / "plan.toml", "--plan", plan],
                              check=True, stdout=subprocess.PIPE, text=True)
        return json.loads(told.stdout)

    def train(self, case, task, folder):
        links = Links(self.bin / "assay-bench", case["ranks"], case["mbit"], case["delay_ms"])
        try:
            (folder / "hosts.toml").write_text(hosts_text(case["ranks"]))
            speeds = speeds_of(case)
            common = [self.bin / "assay-bench", "cell-rank", "--cell", folder / "hosts.toml", "--multiply-adds-per-s"]
            lead = common + [speeds[0], "--task", task, "--plan", case["plan"], "--steps", case["steps"], "--warm-up",
                             case["warm_up"], "--directory", folder]
            told = all_ranks(links, lead, lambda rank: common + [speeds[rank], "--name", f"m{rank}"], folder, 3600)
        finally:
            forwarded = links.close()
        return [json.loads(each) for each in told], forwarded


def train_signed(bench_program, case, folder):
    """What the ranks of a case say, rank 0 first, and what the forwarder did."""
    links = Links(bench_program, case["ranks"], case["mbit"], case["delay_ms"])
    try:
        command = [bench_program, "group-signed-rank", "--models", case["model"], "--layouts", f"{case['plan']}/{case['ranks']}",
                   "--steps", case["steps"], "--warm-up", case["warm_up"], "--words", folder / "words"]
        of_rank = lambda rank: command + ["--rank", rank, "--address", address(rank)]
        told = all_ranks(links, of_rank(0), of_rank, folder, 3600)
    finally:
        forwarded = links.close()
    return [json.loads(each) for each in told if each.strip()], forwarded


def median_interval(values, confidence=0.95):
    """Two of the values between which the median of all that could be measured lies with that confidence, whatever their
    distribution (order statistics: each value is below that median with probability 1/2); the extremes if they are too few."""
    values, n = sorted(values), len(values)
    rank, below = 0, 1
    while 2 * (below + math.comb(n, rank + 1)) <= (1 - confidence) * 2**n:
        rank += 1
        below += math.comb(n, rank)
    return [values[rank], values[n - 1 - rank]]


def signed_result(case, told, forwarded, load):
    """By how much signing makes a step of a case longer."""
    lead = told[0]
    ratios = lead["steps_s"].pop("signed_over_plain_each")
    interval = [round(ratio - 1, 4) for ratio in median_interval(ratios)]
    return {"name": case["name"], "model": case["model"], "plan": case["plan"], "ranks": case["ranks"],
            "links": {"mbit": case["mbit"], "delay_ms": case["delay_ms"]}, "load": round(load, 2), "forwarder": forwarded,
            "is_one_state": lead["is_one_state"], "sent_bytes": lead["sent_bytes"], "steps_s": lead["steps_s"],
            "longer_by": round(statistics.median(ratios) - 1, 4), "longer_by_95": interval, "steps": len(ratios),
            "statements_s": [each["statements_s"] for each in told],
            "cpu_s": [each["cpu_s"] for each in told]}


def run_signed_case(bench_program, case):
    with tempfile.TemporaryDirectory(prefix="assay-links-") as path:
        load = os.getloadavg()[0]
        told, forwarded = train_signed(bench_program, case, pathlib.Path(path))
        return signed_result(case, told, forwarded, load)


MLP = """title = "layers"
steps = 100
checkpoint_interval = 10
reward = "10 ASY"
verification_fee = "2 ASY"
training_blocks = 600

[model]
kind = "mlp"
hidden = {hidden}
classes = 3
batch_size = {batch}

[optimizer]
kind = "adamw"
learning_rate = 0.001

[data]
rows = "points.safetensors"
"""
GPT = """title = "characters"
steps = {steps}
checkpoint_interval = {interval}
reward = "20 ASY"
verification_fee = "4 ASY"
training_blocks = 2000

[model]
kind = "gpt"
context = 32
layers = 2
heads = 2
width = 64
batch_size = 8

[optimizer]
kind = "adamw"
learning_rate = 0.002

[data]
text = "LICENSE"
"""
DILOCO = """
[replicas]
count = {ranks}
exchange = "diloco"
turn_steps = {turn_steps}
"""
ROOT = pathlib.Path(__file__).resolve().parents[2]


def write_task(folder, case):
    """A task directory of the case's model."""
    folder.mkdir(parents=True, exist_ok=True)
    shutil.copy(ROOT / "LICENSE", folder)
    shutil.copy(ROOT / "examples/mlp/points.safetensors", folder)
    turn_steps = case.get("turn_steps", 10)
    batches = {"mlp": 64, "mlp8": 8}
    if case["model"] in batches:
        text = MLP.format(hidden=[256] * 7, batch=batches[case["model"]])
    else:
        text = GPT.format(steps=turn_steps * 16, interval=turn_steps)
    if case["plan"] == "turns":
        text += DILOCO.format(ranks=case["ranks"], turn_steps=turn_steps)
    (folder / "task.toml").write_text(text)


def case_of(name, arguments):
    """A case by its name: MODEL-PLAN-RANKS-MBIT-MS, as in mlp-dp-4-100-20."""
    model, plan, ranks, mbit, delay_ms = name.rsplit("-", 4)
    case = {"name": name, "model": model, "plan": plan, "ranks": int(ranks), "mbit": float(mbit), "delay_ms": float(delay_ms),
            "speed": arguments.speed, "steps": arguments.steps, "warm_up": 1}
    if arguments.slow is not None:
        case |= {"slow": arguments.slow, "slowed_by": arguments.slowed_by}
    if plan == "turns":
        case["turn_steps"] = arguments.turn_steps
        case["steps"] = arguments.rounds * arguments.turn_steps * int(ranks)
        case["warm_up"] = 0
    return case


def case_again(old):
    """A case that was measured before."""
    case = {"name": old["name"], "model": old["model"], "plan": old["plan"], "ranks": old["ranks"],
            "speed": old["held_to_multiply_adds_per_s"], "steps": len(old["steps_s"]), "warm_up": 1}
    case |= {key: old["links"][key] for key in ("mbit", "delay_ms")}
    case |= {key: old[key] for key in ("slow", "slowed_by", "turn_steps") if key in old}
    if case["plan"] == "turns":
        case |= {"steps": len(old["rounds_s"]) * case["turn_steps"] * case["ranks"], "warm_up": 0}
    return case


def cases_of(arguments, results):
    """The cases that the arguments name, and with --again those that were measured before: all, or those with the names."""
    if not arguments.again:
        return [case_of(name, arguments) for name in arguments.cases]
    return [case_again(old) for old in results["cases"] if not arguments.cases or old["name"] in arguments.cases]


def add_prediction(bench, case, out, members, folder):
    """What `assay plan` says of a case, beside its steps or rounds."""
    write_task(folder / "task", case)
    text = at_speeds(members_of_all(members, case["ranks"], out.get("overheads")), speeds_of(case))
    predicted = bench.predict(folder / "task", text, case["plan"], folder)["plans"][0]
    keys = ("step_s", "is_timed", "compute_s", "exchange_s", "handover_s")
    out["predicted"] = {key: predicted[key] if key == "is_timed" else round(predicted[key], 5) for key in keys}
    steps = out["steps_s"]
    if case["plan"] == "turns":
        out |= utilisation(out["rounds_s"], case["turn_steps"], predicted["compute_s"])
        out["predicted_utilisation"] = round(predicted["compute_s"] / predicted["step_s"], 4)
        steps = [seconds / case["turn_steps"] for seconds in out["rounds_s"]]
    return out | summary(steps, predicted["step_s"])


def run_case(bench, case, measured_ranks):
    with tempfile.TemporaryDirectory(prefix="assay-links-") as path:
        folder = pathlib.Path(path)
        write_task(folder / "task", case)
        members, overheads = bench.measure(case["mbit"], case["delay_ms"], measured_ranks, folder)
        load = os.getloadavg()[0]
        told, forwarded = bench.train(case, folder / "task", folder)
        out = {"name": case["name"], "model": case["model"], "plan": case["plan"], "ranks": case["ranks"],
               "links": {"mbit": case["mbit"], "delay_ms": case["delay_ms"], "measured": links_of(members)},
               "overheads": overheads, "held_to_multiply_adds_per_s": case["speed"], "load": round(load, 2),
               "forwarder": forwarded, "lead_cpu_s": round(told[0]["cpu_s"], 3), "steps_s": [],
               "computing": {key: [round(each["computing"][key], 3) for each in told] for key in ("held_s", "real_s", "late_s")}}
        out |= {key: case[key] for key in ("slow", "slowed_by") if key in case}
        if case["plan"] == "turns":
            out["turn_steps"] = case["turn_steps"]
            out["rounds_s"] = rounds_of(told[0]["steps_s"], case["turn_steps"] * case["ranks"])
        else:
            out["steps_s"] = [round(x, 4) for x in told[0]["steps_s"]]
        return add_prediction(bench, case, out, members, folder)


def predict_again(bench, old):
    """The prediction of a case that was measured before, for a prediction that has changed."""
    with tempfile.TemporaryDirectory(prefix="assay-links-") as path:
        return add_prediction(bench, case_again(old), dict(old), members_of_links(old["links"]["measured"]), pathlib.Path(path))


def with_result(cases, result):
    """The cases with the result, in the place of an older one of the same name."""
    out = [result if each["name"] == result["name"] else each for each in cases]
    return out if any(each["name"] == result["name"] for each in cases) else out + [result]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("bin", help="folder with assay, assay-worker and assay-bench")
    parser.add_argument("out", help="JSON file to which results are added")
    parser.add_argument("--predict-again", action="store_true", help="only predict what OUT has once more")
    parser.add_argument("--again", action="store_true", help="measure what OUT has once more, with its speeds and numbers of steps")
    parser.add_argument("--signed", action="store_true", help="steps with and without signatures of what ranks tell each other")
    parser.add_argument("--cases", nargs="+", default=[], help="MODEL-PLAN-RANKS-MBIT-MS, as in mlp-dp-4-100-20; or with "
                                                               "--slow gpt-pp:3,1+1f1b8-2-1000-1")
    parser.add_argument("--steps", type=int, default=5, help="that are timed")
    parser.add_argument("--rounds", type=int, default=2, help="of local replicas")
    parser.add_argument("--turn-steps", type=int, default=100, help="of local replicas")
    parser.add_argument("--speed", type=float, default=5e7, help="multiply-adds per second that ranks are held to")
    parser.add_argument("--slow", type=int, help="rank that is held to less than that, as a machine among faster ones")
    parser.add_argument("--slowed-by", type=float, default=3.0, help="how many times less")
    parser.add_argument("--seconds", type=float, default=4.0, help="of bytes in each direction of each measured link")
    parser.add_argument("--measured-ranks", type=int, default=3, help="between which links are measured")
    arguments = parser.parse_args()
    bench = Bench(arguments.bin, arguments.seconds)
    out = pathlib.Path(arguments.out)
    results = json.loads(out.read_text()) if out.exists() else {"bench": "links", "cases": []}
    if arguments.predict_again:
        results["cases"] = [predict_again(bench, each) for each in results["cases"]]
        out.write_text(json.dumps(results, indent=1) + "\n")
        return
    lacking = missing()
    if lacking:
        sys.exit("links.py needs " + " and ".join(lacking))
    for case in cases_of(arguments, results):
        if arguments.signed:
            result = run_signed_case(bench.bin / "assay-bench", case | {"warm_up": 2})
        else:
            result = run_case(bench, case, arguments.measured_ranks)
        print(json.dumps({key: result[key] for key in ("name", "predicted", "measured_s", "predicted_over_measured", "utilisation",
                                                           "computing", "longer_by", "longer_by_95", "load") if key in result}), flush=True)
        results["cases"] = with_result(results["cases"], result)
        out.write_text(json.dumps(results, indent=1) + "\n")


if __name__ == "__main__":
    main()
