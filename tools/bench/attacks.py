#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Plays every attack of the demo for real, many times, and counts how often it was found.

    attacks.py BIN OUT [--runs N] [--kinds KIND,...]

Each run is a chain and workers of its own: a model is trained, the attack made, replayed and judged. A run counts as
found when the demo ends as it has to, by the cause that it has to: the attacker convicted or refuted, or with no more
money than honest play would have brought; the others paid, the money conserved. OUT is written after each run, and runs
that it already has are not repeated.
"""
import argparse
import json
import pathlib
import statistics
import subprocess
import tempfile
import time

# Name of the attack, the demo's kind, its mode, and further options.
ATTACKS = [
    ("skipped segment", "skip", "exact"),
    ("altered tile", "tile", "exact"),
    ("wrong batch", "data", "exact"),
    ("another seed's start", "init", "exact"),
    ("another learning rate", "optimizer", "exact"),
    ("flattered score", "score", "exact"),
    ("withheld artifact", "withhold", "exact"),
    ("moves in the last second", "late", "exact"),
    ("solver and all verifiers collude", "collusion", "exact"),
    ("lazy verifier", "lazy", "exact"),
    ("copied verdict", "copycat", "exact"),
    ("rejecting verifier", "reject", "exact"),
    ("false accuser", "false-accuser", "exact"),
    ("flood of false accusers", "flood", "exact"),
    ("copied challenges of forced errors", "free-rider", "exact"),
    ("copied challenges, two watchers", "free-rider", "exact", "--watchers", "2"),
    ("jackpots by an insider", "insider", "exact"),
    ("jackpots by an insider, two watchers", "insider", "exact", "--watchers", "2"),
    ("skipped segment, by distance", "skip", "tolerance"),
    ("wrong batch, by distance", "data", "tolerance"),
    ("another learning rate, by distance", "optimizer", "tolerance"),
    ("push beyond the threshold", "push", "tolerance"),
    ("overstated distances", "inflate", "tolerance"),
    ("overstated profile", "misprofile", "tolerance"),
    ("nobody, exact mode", "none", "exact"),
    ("nobody, tolerance mode", "none", "tolerance"),
]
GRAINS = 1e9


def hunt_figures(hunt):
    """Of jackpots without a replay: forced verdicts that could be hunted, and what became of them."""
    hunters = set(hunt["hunters"])
    prey = [v for v in hunt["verdicts"] if v["forced"] and hunt["informant"] in (None, v["verifier"])]
    drawn = [v for v in prey if hunters & set(v["watchers"])]
    won = [v for v in prey if hunters & {w["account"] for w in v["won"]}]
    challenged = [v for v in prey if hunters & set(v["challengers"])]
    denied = [v for v in challenged if set(v["watchers"]) - hunters - set(v["challengers"])]
    return {"prey": len(prey), "challenged": len(challenged), "drawn": len(drawn), "won": len(won),
            "honest_watcher_denied": len(denied),
            "gain_asy": hunt["gain"] / GRAINS, "honest_asy": hunt["honest"] / GRAINS}


def play(binaries, kind, mode, more, seed):
    with tempfile.TemporaryDirectory(prefix="assay-attack-") as folder:
        report = pathlib.Path(folder) / "report.json"
        command = [str(binaries / "assay"), "demo", "--fraud", kind, "--mode", mode, "--seed", str(seed),
                   "--report", str(report), *more]
        started = time.monotonic()
        result = subprocess.run(command, capture_output=True, text=True, timeout=400)
        run = {"seed": seed, "as_it_has_to": result.returncode == 0, "wall_s": round(time.monotonic() - started, 1)}
        if result.returncode != 0:
            run["said"] = result.stderr.strip().splitlines()[:1]
        if report.exists():
            told = json.loads(report.read_text())
            events = [e for task in told["tasks"] for e in task["history"]]
            run["states"] = [task["state"] for task in told["tasks"]]
            run["slashed_asy"] = sum(int(e["amount"]) for e in events if e["event"] == "slashed") / GRAINS
            run["reasons"] = sorted({e["reason"] for e in events if e["event"] == "slashed"})
            run["rounds"] = max((d["rounds"] for d in told["disputes"]), default=0)
            if "hunt" in told:
                run["hunt"] = hunt_figures(told["hunt"])
        return run


def summary(attack):
    runs = attack["runs"]
    return {"runs": len(runs), "found": sum(run["as_it_has_to"] for run in runs),
            "wall_s": statistics.median(run["wall_s"] for run in runs),
            "slashed_asy": statistics.median(run.get("slashed_asy", 0) for run in runs)}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("binaries", type=pathlib.Path)
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--kinds", default="")
    options = parser.parse_args()
    wanted = set(filter(None, options.kinds.split(",")))
    attacks = json.loads(options.out.read_text())["attacks"] if options.out.exists() else []
    for seed in range(1, options.runs + 1):
        for name, kind, mode, *more in ATTACKS:
            if wanted and kind not in wanted:
                continue
            attack = next((a for a in attacks if a["name"] == name), None)
            if attack is None:
                attack = {"name": name, "kind": kind, "mode": mode, "runs": []}
                attacks.append(attack)
            if any(run["seed"] == seed for run in attack["runs"]):
                continue
            attack["runs"].append(play(options.binaries, kind, mode, more, seed))
            attack["summary"] = summary(attack)
            options.out.write_text(json.dumps({"attacks": attacks}, indent=1) + "\n")
            print(f"{name}, seed {seed}: {attack['runs'][-1]}", flush=True)
    for attack in attacks:
        print(f"{attack['name']:36} {attack['summary']['found']} of {attack['summary']['runs']}")


if __name__ == "__main__":
    main()
