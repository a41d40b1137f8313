#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Demos of four accounts that compute each step together.

    together_e2e.py BIN PLAN FRAUD [--join RANK] [--leave RANK] [--slow RANK] [--audit-every N]  one may lie to the
                                   others or withhold, or all but one collude; others may come late or go early
    together_e2e.py BIN tied FRAUD four stages of a GPT with a tied head; one may lie
    together_e2e.py BIN stages     two stages, of which the one of a slow machine becomes smaller
"""
import pathlib
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.append(str(HERE))
from demo_e2e import check, check_shape, run_demo  # noqa: E402


def check_together(binaries, folder, plan, fraud, *moves):
    workers = 4
    cheats = ["--fraud", fraud] if fraud != "none" else []
    report, story = run_demo(binaries, folder / "home", "--workers", str(workers), "--parallel", plan, "--accounts", *cheats, *moves, patience_s=600)
    check_shape(report)
    check(report["parallel"] == plan and report["workers"] == workers, "the report is of another group")
    check(len(report["root"]) == 64 and report["root"] == report["one_process_root"], "the group's root is not one process's")
    check(report["state"] == "settled", "the task must be settled, for all or for what is left of it")
    kind, _, rank = fraud.partition("@")
    named = int(rank) if rank else None
    colludes = kind == "collude"
    # Of a coalition of all but one whoever is before that one begins, and the others follow a step later.
    culprit = (named - 1) % workers if colludes else named
    cheating = [each for each in range(workers) if named is not None and (each == named) != colludes]
    check(report["cheats"] == cheating, f"{report['cheats']} cheated, not {cheating}")
    withholds, equivocates = kind == "withhold", kind == "equivocate"
    is_wrong = culprit is not None and not withholds and not equivocates
    is_convicted = is_wrong or equivocates
    check(report["convicted"] == ([culprit] if is_convicted else []), f"convicted were {report['convicted']}")
    segments, all_segments = report["segments"], report["of_segments"]
    right = 1 if "--audit-every" in moves else 5  # members who audit can accuse while they train, so there a liar begins early
    check(segments == (right if is_wrong else all_segments), f"{segments} segments count of {all_segments}")
    # GRP-14: the lead pays as much as who is out for its demands, and nobody else.
    demands = [(demand["member"], demand["is_out"]) for demand in report["demands"]]
    check(demands == ([(culprit, False), (culprit, True)] if withholds else []), f"demanded was {demands}")
    paid_for = report["members"][culprit]["demanded"] if withholds else 0
    check((paid_for > 0) == withholds and report["honest_lost"] == paid_for, f"honest members lost {report['honest_lost']}")
    check([each["member"] for each in report["equivocations"]][:1] == ([culprit] if equivocates else []), "who equivocated was not found")
    check_pay(report, moves, culprit if is_convicted else None, culprit if withholds else None)
    check(report["bytes"]["signatures"] > 0 and report["bytes"]["sent"] > 0, "nobody signed what it sent")
    accused = [accusation["accused"] for accusation in report["accusations"]]
    audits = "--audit-every" in moves
    # A liar may audit as well, and accuse whom it has misled.
    check((culprit in accused if audits else accused[-1:] == [culprit]) if is_wrong else not accused, f"members accused {accused}")
    if colludes:
        check_coalition(report, plan, named, culprit)
    found = [audit["auditor"] for audit in report["audits"] if audit["accused"] == culprit and culprit is not None]
    check(bool(found) == audits, f"ranks {found} found who was wrong, while the others trained")
    if "--slow" in moves:
        slow = int(moves[moves.index("--slow") + 1])
        counts = [[reseat["seats"].count(each) for each in range(workers)] for reseat in report["reseats"]]
        check(any(min(count) == count[slow] < sorted(count)[1] for count in counts), f"seats were dealt as {counts}")
        # Who is slow computes less of each step, not only earns less.
        check(any(":" in session["layout"] for session in report["sessions"]), f"the steps were divided by {report['sessions']}")
    check("who was paid" in story, "the story was not told")


def check_coalition(report, plan, honest, first):
    """The honest member of a coalition's group is not convicted, whoever accuses it, and shows who has misled it."""
    member = report["members"][honest]
    check(member["slashed"] == member["demanded"] == 0 and member["rewarded"] > 0, f"the honest member has {member}")
    accusations = [(accusation["accuser"], accusation["accused"]) for accusation in report["accusations"]]
    if plan == "pp":  # where whoever begins tells its neighbour alone something wrong
        check(honest in [accused for _, accused in accusations], f"nobody accused the honest member: {accusations}")
        check(accusations[-1] == (honest, first), f"the honest member did not show who misled it: {accusations}")


def check_tied(binaries, folder, fraud):
    """A GPT whose head and embedding are one tensor, of which the first stage sends the last one what it has."""
    own = folder / "own"
    own.mkdir()
    text = HERE.parents[2] / "LICENSE"
    (own / "task.toml").write_text(f"""title = "a GPT with a tied head"
steps = 200
checkpoint_interval = 25
members = 4
reward = "20 ASY"
verification_fee = "3 ASY"
training_blocks = 4000
[model]
kind = "gpt"
context = 32
layers = 2
heads = 1
width = 32
batch_size = 2
tied_head = true
[optimizer]
kind = "adamw"
learning_rate = 0.002
clip_norm = 1.0
[data]
text = "{text}"
""")
    check_together(binaries, folder, "pp", fraud, "--task", str(own))


def check_stages(binaries, folder):
    """Seats follow the speed of two stages, and stages follow the seats."""
    own = folder / "own"
    own.mkdir()
    text = HERE.parents[2] / "LICENSE"
    (own / "task.toml").write_text(f"""title = "a GPT of four blocks"
steps = 64
checkpoint_interval = 8
members = 64
reward = "20 ASY"
verification_fee = "3 ASY"
training_blocks = 4000
[model]
kind = "gpt"
context = 32
layers = 4
heads = 1
width = 32
batch_size = 4
[optimizer]
kind = "adamw"
learning_rate = 0.002
[data]
text = "{text}"
""")
    report, _ = run_demo(binaries, folder / "home", "--workers", "2", "--parallel", "pp", "--accounts", "--slow", "1", "--task", str(own), patience_s=600)
    check_shape(report)
    check(report["state"] == "settled" and report["root"] == report["one_process_root"], "the group's root is not one process's")
    check(report["convicted"] == [] and report["honest_lost"] == 0, "an honest member lost something")
    counts = [[reseat["seats"].count(each) for each in range(2)] for reseat in report["reseats"]]
    check(counts and counts[0][0] > counts[0][1] > 0, f"seats were dealt as {counts}")
    layouts = [session["layout"] for session in report["sessions"]]
    check(layouts[0] == "pp2" and any(layout.startswith("pp:") for layout in layouts[1:]), f"the steps were divided by {layouts}")
    check_pay(report, (), None, None)


def check_pay(report, moves, convicted, out):
    """GRP-12 to GRP-14, less the tax: segment by segment, by the seats that there are for it."""
    workers, count = report["workers"], report["of_segments"]
    late = int(moves[moves.index("--join") + 1]) if "--join" in moves else None
    seats = {segment: [rank for rank in range(workers) if rank != late] for segment in range(1, count + 1)}
    for segment in range(6, count + 1):  # the sixth is the one that is withheld
        seats[segment] = [None if out is not None and rank == out else rank for rank in seats[segment]]
    for reseat in report["reseats"]:
        for segment in range(reseat["from"], count + 1):
            seats[segment] = reseat["seats"]
    for mover, comes in (("--join", True), ("--leave", False)):
        if mover in moves:
            rank = int(moves[moves.index(mover) + 1])
            check((rank in seats[1]) != comes and (rank in seats[count]) == comes, f"{mover}: seats are {seats}")
    for rank, member in enumerate(report["members"]):
        earned = 0
        for segment in range(1, report["segments"] + 1):
            earned += 20_000_000_000 * seats[segment].count(rank) // (count * len(seats[segment]))
        earned = 0 if rank == convicted else earned - earned * 4 // 100
        check(member["rewarded"] == earned, f"rank {rank} was paid {member['rewarded']}, not {earned}")


def main():
    binaries, plan, *rest = sys.argv[1:]
    with tempfile.TemporaryDirectory(prefix="assay-e2e-") as folder:
        if plan == "tied":
            check_tied(pathlib.Path(binaries), pathlib.Path(folder), *rest)
        elif plan == "stages":
            check_stages(pathlib.Path(binaries), pathlib.Path(folder))
        else:
            check_together(pathlib.Path(binaries), pathlib.Path(folder), plan, *rest)
    print("ok")


if __name__ == "__main__":
    main()
