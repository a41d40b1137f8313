#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""tools/gpu-evidence.sh without a GPU: what it lists, what it leaves, and, with stand-ins for the tools, what it makes of
results.

    gpu_evidence_test.py SOURCE_DIR
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(sys.argv.pop(1)).resolve()
GPU = "NVIDIA H100, GPU-1, {driver}, 9.0, 81559 MiB, 1980 MHz, 700.00 W, Disabled"
# A driver of CUDA 13, and tests of which one fails.
SMI = """#!/bin/sh
case "$1" in --query-gpu=*) echo '%s';; *) echo '| NVIDIA-SMI 1.2  CUDA Version: %s |';; esac
"""
NVCC = "#!/bin/sh\necho 'Cuda compilation tools, release 13.4, V13.4.92'\n"
SUITE = """#!/bin/sh
for word in "$@"; do case "$word" in
-o=*) out=${word#-o=};;
--first=1) case='<testcase name="equal" time="0.5" status="run"/>';;
--first=2) case='<testcase name="unlike" time="0.25" status="run"><failure message="1 != 2" type="CHECK"/></testcase>';;
--count) echo '[doctest] unskipped test cases passing the current filters: 2'; exit;;
esac; done
test "$ASSAY_TEST_DEVICE" = cuda && echo "<testsuites><testsuite name='t'>$case</testsuite></testsuites>" > "$out"
"""
CTEST = """#!/bin/sh
case "$*" in
*engine*) echo '{"tests": [{"name": "test_engine_on_cuda", "command": ["%s"], "properties":
  [{"name": "ENVIRONMENT", "value": ["ASSAY_TEST_DEVICE=cuda"]}, {"name": "TIMEOUT", "value": 60.0}]}]}';;
*) echo '{"tests": []}';;
esac
"""
BENCH = "#!/bin/sh\necho '{\"bench\": \"canonical\", \"arguments\": \"'\"$*\"'\"}'\n"


class EvidenceTest(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory(prefix="assay-gpu-evidence-")
        self.addCleanup(temporary.cleanup)
        self.folder = pathlib.Path(temporary.name)
        self.output = self.folder / "evidence.json"

    def write(self, name, text):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        path.chmod(0o755)
        return path

    def run_it(self, *options):
        command = [ROOT / "tools/gpu-evidence.sh", "--output", self.output, "--build", self.folder / "build", *options]
        environment = {**os.environ, "PATH": f"{self.folder / 'bin'}:{os.environ['PATH']}"}
        return subprocess.run(list(map(str, command)), capture_output=True, text=True, env=environment, check=False)

    def record(self):
        return json.loads(self.output.read_text())

    def with_stand_ins(self, cuda="13.4"):
        self.write("bin/cmake", "#!/bin/sh\nexit 0\n")
        suite = self.write("bin/suite", SUITE)
        self.write("bin/ctest", CTEST % suite)
        self.write("build/bin/assay-bench", BENCH)
        smi = self.write("bin/smi", SMI % (GPU.format(driver="580.1"), cuda))
        nvcc = self.write("cuda/bin/nvcc", NVCC)
        self.write("torch/version.py", "__version__ = '2.9.0'\ncuda = '13.0'\n")
        return ["--smi", smi, "--nvcc", nvcc, "--torch-root", self.folder / "torch", "--no-install"]

    def test_a_dry_run_lists_every_step_and_does_nothing(self):
        done = self.run_it("--dry-run", "--nvcc", "/opt/nvcc", "--torch-root", "/opt/torch")
        self.assertEqual(done.returncode, 0, done.stderr)
        steps = [line.split(":")[0] for line in done.stdout.splitlines()]
        self.assertEqual(sorted(set(steps)), ["bench", "build", "dry run", "facts", "kernels", "packages", "tests"])
        for expected in ("quickstart.sh install", "-DASSAY_WITH_CUDA=ON", "-DCMAKE_CUDA_COMPILER=/opt/nvcc", "-L gpu",
                         "canonical --device cuda"):
            self.assertIn(expected, done.stdout)
        self.assertFalse(self.output.exists())

    def test_without_a_gpu_it_says_so_and_ends_with_3(self):
        done = self.run_it("--smi", "/nonexistent/nvidia-smi")
        self.assertEqual(done.returncode, 3, done.stderr)
        self.assertIn("finds no GPU", done.stderr)
        record = self.record()
        self.assertEqual(record["result"], "no GPU")
        self.assertEqual(record["machine"]["gpus"], [])
        self.assertEqual(record["commands"], [])
        self.assertIn("cpu", record["machine"])

    def test_results_are_recorded_case_by_case(self):
        done = self.run_it(*self.with_stand_ins())
        self.assertEqual(done.returncode, 1, done.stderr)
        record = self.record()
        self.assertEqual(record["machine"]["gpus"][0]["compute_cap"], "9.0")
        self.assertEqual(record["versions"]["driver"], "580.1")
        self.assertIn("13.4", record["versions"]["nvcc"][0])
        self.assertIn("-DCMAKE_CUDA_ARCHITECTURES=90", " ".join(c["command"] for c in record["commands"]))
        results = {(test["test"], test["case"]): test for test in record["tests"]}
        self.assertEqual(results["test_engine_on_cuda", "equal"]["result"], "passed")
        self.assertEqual(results["test_engine_on_cuda", "unlike"]["message"], "1 != 2")
        # The nvcc that stands in compiles nothing.
        self.assertEqual(sorted(record["failed"]), ["check: kernels: machine code", "test_engine_on_cuda: unlike"])
        self.assertEqual(record["canonical"]["arguments"], "canonical --device cuda --repeats 11")
        self.assertEqual(record["result"], "failed")

    def test_what_was_built_elsewhere_is_not_built_again(self):
        self.assertEqual(self.run_it("--prebuilt", *self.with_stand_ins()).returncode, 1)
        record = self.record()
        self.assertEqual(sorted({c["step"] for c in record["commands"]}), ["bench", "facts", "tests"])
        self.assertEqual(record["failed"], ["test_engine_on_cuda: unlike"])

    def test_tests_that_run_nothing_have_failed(self):
        options = self.with_stand_ins()
        self.write("bin/suite", "#!/bin/sh\nexit 1\n")
        self.assertEqual(self.run_it(*options).returncode, 1)
        self.assertIn("test_engine_on_cuda: number 1", self.record()["failed"])

    def test_tests_that_are_skipped_have_failed(self):
        options = self.with_stand_ins()
        self.write("bin/suite", SUITE.replace("\n", "\necho 'skipped: libtorch finds no CUDA device'\n", 1))
        self.assertEqual(self.run_it(*options).returncode, 1)
        record = self.record()
        self.assertIn("test_engine_on_cuda: number 1", record["failed"])
        self.assertIn("skipped: libtorch finds no CUDA device", [test.get("message") for test in record["tests"]])

    def test_cells_by_nccl_may_be_skipped_with_one_gpu(self):
        options = self.with_stand_ins()
        ctest = self.folder / "bin/ctest"
        ctest.write_text(ctest.read_text().replace("test_engine_on_cuda", "test_cell_by_nccl"))
        self.write("bin/suite", SUITE.replace("\n", "\necho 'skipped: this rank would use the GPU cuda:1'\n", 1))
        self.run_it("--prebuilt", *options)
        record = self.record()
        self.assertEqual({(test["test"], test["result"]) for test in record["tests"]}, {("test_cell_by_nccl", "skipped")})
        self.assertEqual(record["result"], "passed")

    def test_a_build_that_fails_ends_the_run(self):
        options = self.with_stand_ins()
        self.write("bin/cmake", "#!/bin/sh\necho 'no such compiler' >&2\nexit 1\n")
        done = self.run_it(*options)
        self.assertEqual(done.returncode, 1)
        self.assertIn("no such compiler", done.stderr)
        self.assertEqual(self.record()["commands"][-1]["exit"], 1)
        self.assertEqual(self.record()["tests"], [])

    def test_a_driver_older_than_the_toolkit_is_refused(self):
        done = self.run_it(*self.with_stand_ins(cuda="12.4"))
        self.assertEqual(done.returncode, 1)
        self.assertIn("the driver is for CUDA 12", done.stderr)
        self.assertNotIn("build", [c["step"] for c in self.record()["commands"]])


if __name__ == "__main__":
    unittest.main()
