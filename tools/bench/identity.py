#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes docs/benchmarks/identity.json anew: state roots of four small models, by plan, ranks and build.

    identity.py [--builds NAME...] [--programs PATH...] [--folder FOLDER] [--jobs N]
    identity.py --check PROGRAM

Builds assay-identity with each compiler and libtorch of BUILDS that this machine has or can install, below FOLDER
(build/identity), and runs each program once for each instruction set of this processor: ASSAY_INSTRUCTIONS and
ATEN_CPU_CAPABILITY stand for an older one. A libtorch that is named by a version comes from PyPI, without CUDA's libraries,
into an environment in FOLDER. PROGRAMS are built already, and with them nothing is built that --builds does not name. The rows
of a build replace those that it had, rows of other builds stay, and the tables of docs/benchmarks/README.md follow the file.
What this machine cannot build is named on stderr. Exits with 1 where two roots of one model differ.

With --check PROGRAM trains each model by one process and in a few cells, and exits with 1 unless the roots are those of the
file, of which there is one for each model, and the tables are those of the file.
"""
import argparse
import collections
import json
import os
import pathlib
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
FILE = ROOT / "docs" / "benchmarks" / "identity.json"
PAGE = ROOT / "docs" / "benchmarks" / "README.md"
BEGIN, END = "<!-- identity: begin -->\n", "<!-- identity: end -->\n"
TARGET = "assay-identity"

# By name: a compiler, and a version of PyTorch or None for the libtorch that CMake finds.
BUILDS = {
    "g++": ("g++", None),
    "clang": ("clang++-14", None),
    "g++-torch2.11": ("g++", "2.11.0"),
}
# The headers of libstdc++ that a compiler takes, if not the newest. In C++20 clang cannot compile libtorch 1.13 with those of
# libstdc++ 12, whose vectors are constexpr: it instantiates their members before their elements are complete.
HEADERS = {"clang++-14": "11"}
# The parts of CUDA's toolkit that the libtorch_cpu of this version names; it needs no other.
PARTS = {"2.11.0": "cuda-toolkit[cudart,cupti]==13.0.2"}
# What the engine's own products may use, and libtorch's kernels beside it (None: what they choose).
INSTRUCTIONS = {"none": "default", "neon": None, "avx2": "avx2", "avx-vnni": "avx2", "avx512": "avx512", "avx512-vnni": "avx512",
                "amx": "avx512"}
MODELS = {
    "mlp": "MLP, clipping, AdamW",
    "cnn": "CNN with batch normalisation, clipping, AdamW",
    "gpt": "GPT, dropout, clipping, AdamW",
    "llama": "Llama (RMSNorm, rotary positions, SwiGLU, grouped queries), dropout, clipping, AdamW",
}
BUILD_KEYS = ["compiler", "libtorch", "processor", "instructions"]
CHECKED_LAYOUTS = ["dp:5,3/2", "zero1/3", "zero3/4", "tp/2", "pp+1f1b4/2", "dp2tp2pp2/8"]


class Missing(Exception):
    """What a build needs and this machine lacks."""


def output_of(command, **options):
    done = subprocess.run([str(part) for part in command], stdout=subprocess.PIPE, text=True, **options)
    if done.returncode:
        raise RuntimeError(f"{' '.join(str(part) for part in command)} ended with {done.returncode}")
    return done.stdout


def torch_root(version, folder, compiler):
    """The torch folder of a wheel, installed once. The libtorch.so of a wheel for CUDA names all of CUDA's libraries, which a
    processor does not need: an empty one takes its place."""
    venv = folder / f"torch-{version}"
    python = venv / "bin" / "python"
    if not (venv / "done").exists():
        try:
            output_of([sys.executable, "-m", "venv", venv])
            pip = [python, "-m", "pip", "install", "--quiet"]
            output_of([*pip, PARTS[version]])
            output_of([*pip, "--no-deps", f"torch=={version}"])
        except RuntimeError as error:
            raise Missing(f"PyTorch {version} from PyPI ({error})") from error
        (venv / "done").touch()
    torch = next(venv.glob("lib/python3*/site-packages/torch"))
    whole = torch / "lib" / "libtorch.so"
    if not (torch / "lib" / "libtorch.so.cuda").exists():
        whole.rename(torch / "lib" / "libtorch.so.cuda")
        output_of([compiler, "-shared", "-x", "c++", "/dev/null", "-Wl,-soname,libtorch.so", "-o", whole])
    return torch


def header_settings(version):
    """What has clang take the headers of this version of libstdc++, whose atomics are calls for it."""
    folders = [pathlib.Path("/usr/include/c++") / version, pathlib.Path("/usr/include/x86_64-linux-gnu/c++") / version]
    if not all(folder.exists() for folder in folders):
        raise Missing(f"libstdc++-{version}-dev")
    flags = " ".join(["-nostdinc++", *(f"-isystem {folder}" for folder in folders)])
    return [f"-DCMAKE_CXX_FLAGS={flags}", "-DCMAKE_CXX_STANDARD_LIBRARIES=-latomic"]


def built(name, options):
    """The program of a build, compiled as far as it is stale."""
    compiler, version = BUILDS[name]
    if shutil.which(compiler) is None:
        raise Missing(compiler)
    folder = options.folder / name
    settings = [f"-DCMAKE_CXX_COMPILER={compiler}", "-DBUILD_TESTING=OFF", "-DASSAY_WITH_COMETBFT=OFF"]
    settings += [f"-DASSAY_TORCH_ROOT={torch_root(version, options.folder, compiler)}"] if version else []
    settings += header_settings(HEADERS[compiler]) if compiler in HEADERS else []
    output_of(["cmake", "--preset", "release", "-B", folder, *settings], cwd=ROOT)
    print(f"{name}: building", file=sys.stderr, flush=True)
    log = folder / "build.log"
    # So that builds of one compiler share in the compiler cache what does not include libtorch.
    cached = {**os.environ, "CCACHE_BASEDIR": os.path.commonpath([ROOT, folder]), "CCACHE_NOHASHDIR": "1"}
    with log.open("w") as file:
        command = ["cmake", "--build", folder, "--target", TARGET, "-j", str(options.jobs)]
        done = subprocess.run(command, stdout=file, stderr=file, env=cached)
    if done.returncode:
        raise RuntimeError(f"{name} does not build: see {log}")
    return folder / "bin" / TARGET


def environment(instructions):
    out = {**os.environ, "ASSAY_INSTRUCTIONS": instructions, "OMP_WAIT_POLICY": "passive"}
    out.pop("ATEN_CPU_CAPABILITY", None)
    if INSTRUCTIONS[instructions]:
        out["ATEN_CPU_CAPABILITY"] = INSTRUCTIONS[instructions]
    return out


def rows_of(result):
    """The rows of one run of a program."""
    build = {key: result[key] for key in BUILD_KEYS}
    return [{"model": run["model"], "plan": run["plan"], "ranks": run["ranks"], **build, "steps": run["steps"], "sha256": run["sha256"]}
            for run in result["runs"]]


def measured(name, program):
    """Rows of all instruction sets that this processor has."""
    rows = []
    for instructions in INSTRUCTIONS:
        has = json.loads(output_of([program, "--only-build"], env=environment(instructions)))["instructions"]
        if has == instructions:  # else the processor lacks them
            print(f"{name}: running with {instructions}", file=sys.stderr, flush=True)
            rows += rows_of(json.loads(output_of([program], env=environment(instructions))))
    return rows


def merged(rows, new):
    """The file's rows with those of the builds in `new` replaced."""
    def build(row):
        return tuple(row.get(key) for key in BUILD_KEYS)

    replaced = {build(row) for row in new}
    kept = [row for row in rows if build(row) not in replaced]
    order = [list(MODELS), list(INSTRUCTIONS)]
    return sorted(kept + new, key=lambda r: (order[0].index(r["model"]), r["compiler"], r["libtorch"], r["processor"],
                                             order[1].index(r["instructions"])))


def roots_of(rows):
    """Of each model how often it has which root, the most frequent one first."""
    return {model: collections.Counter(row["sha256"] for row in rows if row["model"] == model).most_common() for model in MODELS}


def plans_text(rows):
    """Each plan with its numbers of ranks, in the order of the file."""
    ranks = {}
    for row in rows:
        ranks.setdefault(row["plan"], {})[row["ranks"]] = None
    return ", ".join(f"`{plan}` {'/'.join(str(n) for n in sorted(numbers))}" for plan, numbers in ranks.items() if plan != "one process")


def tables(rows):
    """What the page says of the file."""
    roots = roots_of(rows)
    lines = ["| model | plans and ranks | builds | runs | different roots | SHA-256 |", "|---|---|---|---|---|---|"]
    for model, text in MODELS.items():
        of_model = [row for row in rows if row["model"] == model]
        plans = {(row["plan"], row["ranks"]) for row in of_model}
        builds = {tuple(row[key] for key in BUILD_KEYS) for row in of_model}
        found = ", ".join(f"`{root}`" for root, _ in roots[model])
        lines.append(f"| {text} | {len(plans)} | {len(builds)} | {len(of_model)} | **{len(roots[model])}** | {found} |")
    lines += ["", "| compiler | libtorch | processor | instruction sets | runs | with another root |", "|---|---|---|---|---|---|"]
    by_build = {}
    for row in rows:
        by_build.setdefault((row["compiler"], row["libtorch"], row["processor"]), []).append(row)
    for (compiler, libtorch, processor), of_build in sorted(by_build.items()):
        sets = ", ".join(sorted({row["instructions"] for row in of_build}, key=list(INSTRUCTIONS).index))
        others = sum(row["sha256"] != roots[row["model"]][0][0] for row in of_build)
        lines.append(f"| {compiler} | {libtorch} | {processor} | {sets} | {len(of_build)} | {others} |")
    lines += ["", f"Plans, each with its numbers of ranks, beside one process: {plans_text(rows)}.", ""]
    return "\n".join(lines)


def page_with(text):
    page = PAGE.read_text()
    head, rest = page.split(BEGIN)
    return head + BEGIN + text + END + rest.split(END)[1]


def read():
    return json.loads(FILE.read_text()) if FILE.exists() else []


def add(new):
    rows = merged(read(), new)
    FILE.write_text("[\n" + ",\n".join(json.dumps(row) for row in rows) + "\n]\n")
    PAGE.write_text(page_with(tables(rows)))


def check(program):
    rows = read()
    wrong = [f"the file has {len(found)} roots of {model}" for model, found in roots_of(rows).items() if len(found) != 1]
    if PAGE.read_text() != page_with(tables(rows)):
        wrong.append(f"{PAGE} is not what the file says: run tools/bench/identity.py")
    result = json.loads(output_of([program, "--layouts", *CHECKED_LAYOUTS]))
    expected = {(row["model"], row["steps"]): row["sha256"] for row in rows}
    for run in result["runs"]:
        root = expected.get((run["model"], run["steps"]), "none")
        if run["sha256"] != root:
            wrong.append(f"{run['model']}, {run['plan']} over {run['ranks']}: {run['sha256']} instead of {root}")
    print("\n".join([*wrong, f"{len(result['runs'])} runs, {len(wrong)} faults"]))
    return 1 if wrong or not result["runs"] else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--builds", nargs="+", choices=BUILDS)
    parser.add_argument("--programs", nargs="+", type=pathlib.Path, default=[])
    parser.add_argument("--folder", type=pathlib.Path, default=ROOT / "build" / "identity")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--check", type=pathlib.Path, metavar="PROGRAM")
    options = parser.parse_args()
    if options.check:
        return check(options.check)
    options.folder = options.folder.resolve()
    options.folder.mkdir(parents=True, exist_ok=True)
    for program in options.programs:
        add(measured(program, program.resolve()))
    for name in options.builds or ([] if options.programs else BUILDS):
        try:
            add(measured(name, built(name, options)))
        except Missing as missing:
            print(f"{name}: left out, since this machine lacks {missing}", file=sys.stderr)
    roots = roots_of(read())
    for model, found in roots.items():
        print(f"{model}: {sum(count for _, count in found)} runs, {len(found)} roots")
    return 1 if any(len(found) > 1 for found in roots.values()) else 0


if __name__ == "__main__":
    sys.exit(main())
