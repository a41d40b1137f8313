# SPDX-License-Identifier: Apache-2.0
"""The programs and packages that the explorer's tests need. Exits with 77 and a reason where one of them is missing."""
import pathlib
import shutil
import subprocess
import sys

SKIPPED = 77
HERE = pathlib.Path(__file__).resolve().parent


def skip(reason):
    print(f"skipped: {reason}")
    sys.exit(SKIPPED)


def chromium():
    for name in ("chromium", "chromium-browser", "google-chrome"):
        found = shutil.which(name)
        if found:
            return found
    return skip("Chromium is not installed (Debian: apt-get install chromium, 123 MB to download, 411 MB on disk)")


def node_js():
    found = shutil.which("node")
    if not found or not shutil.which("npm"):
        skip("Node.js or npm is not installed (Debian: apt-get install nodejs npm)")
    version = subprocess.run([found, "--version"], capture_output=True, text=True, check=True).stdout.strip()
    if int(version.lstrip("v").split(".")[0]) < 18:
        skip(f"Node.js is {version}, and 18 or later is needed")
    return found


def install(folder):
    """The packages of package-lock.json, once for each of its contents."""
    folder.mkdir(parents=True, exist_ok=True)
    lock = (HERE / "package-lock.json").read_bytes()
    if (folder / "node_modules").is_dir() and (folder / "package-lock.json").exists() and (folder / "package-lock.json").read_bytes() == lock:
        return
    (folder / "package-lock.json").unlink(missing_ok=True)
    shutil.copy(HERE / "package.json", folder)
    shutil.copy(HERE / "package-lock.json", folder)
    done = subprocess.run(["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund"], cwd=folder, capture_output=True, text=True)
    if done.returncode != 0:
        (folder / "package-lock.json").unlink(missing_ok=True)
        skip("npm cannot install puppeteer-core and axe-core: " + done.stderr.strip()[-400:])
