# SPDX-License-Identifier: Apache-2.0
"""What the tests of exports from PyTorch share. The program's arguments are ASSAY and SOURCE_DIR. Without python3-torch it says
so and ends with 77."""
import importlib.util
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

if importlib.util.find_spec("torch") is None:
    DEBIAN = "/usr/bin/python3"  # another interpreter may come first in PATH
    if sys.executable != DEBIAN and os.access(DEBIAN, os.X_OK):
        os.execv(DEBIAN, [DEBIAN, *sys.argv])
    print("skipped: python3-torch is not installed")
    sys.exit(77)

ASSAY, SOURCE = sys.argv[1], pathlib.Path(sys.argv[2])
FIXTURES = SOURCE / "tests" / "vectors" / "onnx"
sys.path[:0] = [str(SOURCE / "tools" / "export"), str(FIXTURES)]


def assay(*arguments):
    done = subprocess.run([ASSAY, *map(str, arguments), "-o", "json"], capture_output=True, text=True, check=False)
    return done.returncode, json.loads(done.stdout)


class Directory(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory(prefix="assay-export-")
        self.addCleanup(temporary.cleanup)
        self.at = pathlib.Path(temporary.name)

    def pack(self, directory):
        status, spec = assay("task", "pack", directory, "--store", self.at / "store")
        self.assertEqual(status, 0, spec)
        return spec

    def command(self, *arguments):
        return subprocess.run(
            [sys.executable, SOURCE / "tools" / "export" / "assay_export.py", *map(str, arguments)],
            capture_output=True, text=True, check=False)
