#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Builds with CUDA on a machine with an NVIDIA GPU, tests and measures there, and leaves one JSON file with everything.

Steps: facts about the machine; Debian's packages; nvcc and a libtorch for CUDA, from PyPI where the machine has none; the
build; the check of the kernels' machine code with that nvcc; every test with the label gpu, case by case; and
`assay-bench canonical` on the GPU. The file is written after each step, so a run that is cut off leaves what it knows.

Exits with 0 when everything passed, 1 when something failed, 2 for wrong options and 3 where there is no GPU.
"""
import argparse
import concurrent.futures
import datetime
import json
import os
import pathlib
import platform
import re
import shutil
import subprocess
import sys
import threading
import time
import xml.etree.ElementTree

ROOT = pathlib.Path(__file__).resolve().parent.parent
KERNEL_CHECK = ROOT / "tests" / "unit" / "engine" / "kernels"
NO_GPU = 3
FACTS = ["name", "uuid", "driver_version", "compute_cap", "memory.total", "clocks.max.sm", "power.limit", "mig.mode.current"]
SUITES = ["tests/unit/cell", "tests/unit/engine", "tests/unit/worker"]  # folders of the build whose tests may have the label gpu
TARGETS = ["test_cell", "test_cell_links", "test_engine", "test_engine_segment", "test_engine_shapes", "test_worker", "assay-bench"]
NCCL_HEADERS = ["nccl.h", "cuda_runtime_api.h", "cublas_v2.h", "cusparse.h", "cusolverDn.h", "crt/host_defines.h", "nv/target"]
KEPT = 3000  # characters of either end of a failed command's output


class Failed(Exception):
    """A step without which the next ones make no sense."""


def arguments(argv):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dry-run", action="store_true", help="list the steps and their commands, and do nothing")
    parser.add_argument("--output", type=pathlib.Path, default=ROOT / "build" / "gpu-evidence.json")
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build" / "gpu", help="the build folder")
    parser.add_argument("--no-install", action="store_true", help="install nothing, neither from Debian nor from PyPI")
    parser.add_argument("--prebuilt", action="store_true", help="build nothing: the build folder was made on another machine, for this "
                        "GPU, from this checkout at the same path")
    parser.add_argument("--nvcc", type=pathlib.Path, help="the nvcc to use, instead of that on the PATH or from PyPI")
    parser.add_argument("--torch-root", type=pathlib.Path, help="a libtorch for CUDA, or the torch folder of a wheel")
    parser.add_argument("--jobs", type=int, default=max(1, min(os.cpu_count(), memory() // 1_500_000_000)), help="compilers at once")
    parser.add_argument("--processes", type=int, default=max(1, os.cpu_count() // 2), help="test cases at once")
    parser.add_argument("--bench-torch", action="store_true", help="compare with the PyTorch of python3 too")
    parser.add_argument("--repeats", type=int, default=11, help="steps that the bench measures")
    parser.add_argument("--smi", default="nvidia-smi", help="the nvidia-smi to ask")
    return parser.parse_args(argv)


def memory():
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


def ends_of(text):
    return text if len(text) <= 2 * KEPT else f"{text[:KEPT]}\n...\n{text[-KEPT:]}"


def output_of(command):
    """What a command prints, or "" where it fails or is not there."""
    try:
        return subprocess.run(list(map(str, command)), capture_output=True, text=True, check=True).stdout.rstrip()
    except (OSError, subprocess.CalledProcessError):
        return ""


def gpus(smi):
    """A dict of FACTS for each GPU that the driver knows."""
    lines = output_of([smi, f"--query-gpu={','.join(FACTS)}", "--format=csv,noheader"]).splitlines()
    return [dict(zip(FACTS, (value.strip() for value in line.split(",")))) for line in lines if line.count(",") == len(FACTS) - 1]


def machine(smi):
    text = pathlib.Path("/proc/cpuinfo").read_text(encoding="utf-8") if os.path.exists("/proc/cpuinfo") else ""
    model = next((line.split(":", 1)[1].strip() for line in text.splitlines() if line.startswith("model name")), platform.machine())
    system = platform.freedesktop_os_release() if os.path.exists("/etc/os-release") else {}
    return {"cpu": model, "cores": os.cpu_count(), "memory_bytes": memory(),
            "system": system.get("PRETTY_NAME", platform.system()), "kernel": platform.release(), "gpus": gpus(smi)}


def commit():
    git = ["git", "-C", ROOT]
    return {"commit": output_of([*git, "rev-parse", "HEAD"]) or None,
            "changed": output_of([*git, "status", "--porcelain"]).splitlines()}


def cases_of(junit):
    """[{test, result, seconds, message}] of a file that doctest's reporter wrote."""
    out = []
    for case in xml.etree.ElementTree.parse(junit).getroot().iter("testcase"):
        problems = [problem for kind in ("failure", "error") for problem in case.findall(kind)]
        entry = {"case": case.get("name"), "seconds": float(case.get("time") or 0),
                 "result": "failed" if problems else "skipped" if case.find("skipped") is not None else "passed"}
        if problems:
            entry["message"] = ends_of("\n".join((p.get("message") or p.text or "").strip() for p in problems))
        out.append(entry)
    return out


def labelled_tests(shown):
    """(name, command, environment, seconds it may take) of the tests that `ctest --show-only=json-v1` lists."""
    for test in json.loads(shown)["tests"]:
        properties = {p["name"]: p["value"] for p in test.get("properties", [])}
        environment = dict(entry.split("=", 1) for entry in properties.get("ENVIRONMENT", []))
        yield test["name"], test.get("command", []), environment, properties.get("TIMEOUT")


def has_nccl(torch, nvcc):
    """Whether all headers are there with which cells can be built with NCCL, where cmake/nccl.cmake looks for them."""
    folders = [nvcc.parent.parent / "include", *torch.parent.glob("nvidia/*/include"), pathlib.Path("/usr/local/cuda/include"),
               pathlib.Path("/usr/include")]
    return all(any((folder / header).exists() or (folder / "cccl" / header).exists() for folder in folders) for header in NCCL_HEADERS)


class Run:
    """The steps, and what has become of them. A dry run prints the commands instead."""

    def __init__(self, options):
        self.options = options
        self.lock = threading.Lock()
        self.record = {"evidence": "gpu", "date": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"),
                       "result": "incomplete", **commit(), "machine": machine(options.smi), "versions": {}, "commands": [],
                       "tests": [], "canonical": None}

    def write(self):
        if not self.options.dry_run:
            self.options.output.parent.mkdir(parents=True, exist_ok=True)
            with self.lock:
                self.options.output.write_text(json.dumps(self.record, indent=1) + "\n", encoding="utf-8")

    def command(self, step, command, environment=None, must=True, timeout=None):
        """Runs it in the checkout; its standard output, or None where it failed and need not succeed."""
        command = list(map(str, command))
        words = [*(f"{name}={value}" for name, value in (environment or {}).items()), *command]
        text = " ".join(words).replace(f"{ROOT}/", "").replace(str(ROOT), ".")
        print(f"{step}: {text}", flush=True)
        if self.options.dry_run:
            return None
        start = time.monotonic()
        try:
            done = subprocess.run(command, cwd=ROOT, env={**os.environ, **(environment or {})}, capture_output=True, text=True,
                                  errors="replace", check=False, timeout=timeout)
            code, out, err = done.returncode, done.stdout, done.stderr
        except subprocess.TimeoutExpired:
            code, out, err = 124, "", f"stopped after {timeout} s"
        except OSError as error:
            code, out, err = 127, "", str(error)
        entry = {"step": step, "command": text, "exit": code, "seconds": round(time.monotonic() - start, 1)}
        if code:
            entry["output"] = ends_of(out + err)
        with self.lock:
            self.record["commands"].append(entry)
        self.write()
        if code and must:
            raise Failed(f"{step}: `{text}` ended with {code}:\n{ends_of(out + err)}")
        return out if not code else None

    def find_nvcc(self):
        options = self.options
        found = options.nvcc or shutil.which("nvcc") or shutil.which("nvcc", path="/usr/local/cuda/bin")
        if found is None and options.no_install:
            raise Failed("toolkit: no nvcc on the PATH; give --nvcc, or leave --no-install out")
        if found is None:
            found = self.install("nvcc", "nvidia/cu*/bin/nvcc", "-r", KERNEL_CHECK / "requirements.txt")
        return pathlib.Path(found)

    def find_torch(self):
        options = self.options
        ask = "import torch, os; print(os.path.dirname(torch.__file__) if torch.version.cuda else '')"
        found = options.torch_root or output_of(["python3", "-c", ask])
        if not found and options.no_install:
            raise Failed("toolkit: no PyTorch for CUDA; give --torch-root, or leave --no-install out")
        if not found:
            found = self.install("torch", "torch", "torch")
        return pathlib.Path(found)

    def install(self, name, pattern, *packages):
        """Installs packages into an environment of their own, since PyTorch asks for parts of another toolkit than nvcc's.
        Returns where they have what `pattern` names; in a dry run the pattern."""
        venv = self.options.build.parent / f"{self.options.build.name}-{name}"
        python = venv / "bin" / "python"
        if not python.exists():
            self.command("toolkit", ["python3", "-m", "venv", venv])
        self.command("toolkit", [python, "-m", "pip", "install", "--quiet", *packages])
        pattern = f"lib/python3*/site-packages/{pattern}"
        for toolkit in venv.glob("lib/python3*/site-packages/nvidia/cu*"):
            if (toolkit / "lib").exists() and not (toolkit / "lib64").exists():
                (toolkit / "lib64").symlink_to("lib")  # where nvcc looks for what it links
        found = next(venv.glob(pattern), venv / pattern if self.options.dry_run else None)
        if found is None:
            raise Failed(f"toolkit: {', '.join(map(str, packages))} have no {pattern}")
        return found

    def compare_versions(self, nvcc):
        """A driver runs what toolkits of its own major version or older ones compiled."""
        of_driver = re.search(r"CUDA Version: (\d+)\.", output_of([self.options.smi]))
        of_nvcc = re.search(r"release (\d+)\.", output_of([nvcc, "--version"]))
        if of_driver and of_nvcc and int(of_driver[1]) < int(of_nvcc[1]):
            raise Failed(f"toolkit: the driver is for CUDA {of_driver[1]} and {nvcc} is of CUDA {of_nvcc[1]}: install a newer driver, "
                         "or give --nvcc and --torch-root of an older toolkit")

    def build(self, nvcc, torch):
        self.compare_versions(nvcc)
        gpu = next(iter(self.record["machine"]["gpus"]), {})
        architecture = gpu.get("compute_cap", "9.0").replace(".", "")
        self.command("build", ["cmake", "--preset", "release", "-B", self.options.build, "-DASSAY_WITH_CUDA=ON",
                               f"-DASSAY_TORCH_ROOT={torch}", f"-DCMAKE_CUDA_COMPILER={nvcc}",
                               f"-DCMAKE_CUDA_ARCHITECTURES={architecture}", f"-DASSAY_WITH_NCCL={'ON' if has_nccl(torch, nvcc) else 'OFF'}"])
        self.command("build", ["cmake", "--build", self.options.build, "-j", self.options.jobs, "--target", *TARGETS])

    def check_kernels(self, nvcc):
        found = self.command("kernels", ["python3", KERNEL_CHECK / "check_kernels.py", ROOT, self.options.build / "kernels",
                                         "--nvcc", nvcc], must=False)
        if not self.options.dry_run:
            self.record["tests"].append({"test": "check: kernels", "case": "machine code", "seconds": self.seconds(),
                                         "result": "failed" if found is None else "passed", "output": (found or "").splitlines()})

    def seconds(self):
        return self.record["commands"][-1]["seconds"]

    def run_tests(self):
        """Every test with the label gpu, as CTest would run it, but with a process and a result for each case."""
        cases = []
        for suite in SUITES:
            listing = ["ctest", "--test-dir", self.options.build / suite, "-L", "gpu", "--show-only=json-v1"]
            shown = self.command("tests", listing)
            for name, command, environment, timeout in labelled_tests(shown or '{"tests": []}'):
                if not command:
                    raise Failed(f"tests: {name} is not built")
                counted = self.command("tests", [*command, "--count"], environment, must=False, timeout=timeout)
                number = re.search(r"filters: (\d+)", counted or "")
                cases += [(name, 1 + i, command, environment, timeout) for i in range(int(number[1]) if number else 1)]
        with concurrent.futures.ThreadPoolExecutor(self.options.processes) as pool:
            # The longest cases are in the last suites.
            running = [pool.submit(self.run_case, *case) for case in reversed(cases)]
            for done in concurrent.futures.as_completed(running):
                with self.lock:
                    self.record["tests"] += done.result()
                self.write()

    def run_case(self, name, number, command, environment, timeout):
        """Runs the case of a suite that has this number, in a process of its own. Here nothing may be skipped but what needs
        two GPUs or a build with NCCL."""
        report = self.options.build / f"{name}-{number}.xml"
        report.unlink(missing_ok=True)
        start = time.monotonic()
        only = [f"--first={number}", f"--last={number}", "-r=junit", f"-o={report}"]
        out = self.command("tests", [*command, *only], environment, must=False, timeout=timeout)
        skipped = [line for line in (out or "").splitlines() if line.startswith("skipped: ")]
        cases = cases_of(report) if report.exists() and report.stat().st_size and not skipped else []
        is_excused = skipped and name.endswith("_by_nccl") and (len(self.record["machine"]["gpus"]) < 2 or "ASSAY_WITH_NCCL" in skipped[0])
        cases = cases or [{"case": f"number {number}", "seconds": round(time.monotonic() - start, 1),
                           "result": "skipped" if is_excused else "failed",
                           "message": (skipped or ["no case was run"])[0]}]
        return [{"test": name, **case} for case in cases]

    def bench(self):
        command = [self.options.build / "bin" / "assay-bench", "canonical", "--device", "cuda", "--repeats", self.options.repeats]
        command += ["--torch", "python3"] if self.options.bench_torch else []
        found = self.command("bench", command, must=False)
        self.record["canonical"] = json.loads(found) if found else None

    def all(self):
        options, record = self.options, self.record
        self.command("facts", [options.smi], must=False)
        if not options.no_install:
            self.command("packages", [ROOT / "tools" / "quickstart.sh", "install"])
        nvcc, torch = self.find_nvcc(), self.find_torch()
        version = (torch / "version.py").read_text(encoding="utf-8") if (torch / "version.py").exists() else ""
        record["versions"] = {
            "driver": next((gpu["driver_version"] for gpu in record["machine"]["gpus"]), None),
            "nvcc": output_of([nvcc, "--version"]).splitlines()[-2:],
            "torch": [line for line in version.splitlines() if line.startswith(("__version__ =", "cuda", "git_version"))],
            "compiler": output_of(["c++", "--version"]).splitlines()[:1]}
        if not options.prebuilt:
            self.build(nvcc, torch)
            self.check_kernels(nvcc)
        self.run_tests()
        self.bench()
        if options.dry_run:
            print("dry run: nothing was done")
            return 0
        failed = [f"{test['test']}: {test['case']}" for test in record["tests"] if test["result"] == "failed"]
        failed += [] if record["canonical"] else ["assay-bench canonical"]
        record["result"] = "failed" if failed else "passed"
        record["failed"] = failed
        self.write()
        print(f"gpu-evidence: {record['result']}, {len(record['tests'])} results, {len(failed)} failed: {options.output}")
        return 1 if failed else 0


def main(argv):
    options = arguments(argv)
    options.build, options.output = options.build.resolve(), options.output.resolve()
    run = Run(options)
    try:
        if options.dry_run or run.record["machine"]["gpus"]:
            return run.all()
    except Failed as failure:
        run.record.update(result="failed", failed=[str(failure).splitlines()[0]])
        run.write()
        print(f"gpu-evidence: {failure}", file=sys.stderr)
        return 1
    run.record["result"] = "no GPU"
    run.write()
    print(f"gpu-evidence: `{options.smi}` finds no GPU, so nothing was built or run; {options.output} says so. On a machine with a "
          "GPU install NVIDIA's driver first; --dry-run lists the steps.", file=sys.stderr)
    return NO_GPU


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
