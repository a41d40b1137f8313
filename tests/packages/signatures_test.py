#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Signs packages with keys made for this test, and has tools/check_packages.sh look at them whole and tampered with.

    signatures_test.py ROOT

The packages are small ones of the test's own. Exit status 77: dpkg-deb or ssh-keygen is missing.
"""
import hashlib
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
SKIPPED = 77


def run(*command, **options):
    return subprocess.run([str(part) for part in command], capture_output=True, text=True, **options)


def must(*command, **options):
    done = run(*command, **options)
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(map(str, command))} ended with {done.returncode}:\n{done.stdout}{done.stderr}")
    return done.stdout


def make_package(work, folder, name, text):
    tree = work / f"tree-{name}"
    (tree / "DEBIAN").mkdir(parents=True, exist_ok=True)
    (tree / "usr/share/doc").mkdir(parents=True, exist_ok=True)
    (tree / "DEBIAN/control").write_text(f"Package: {name}\nVersion: 1\nArchitecture: all\nMaintainer: nobody <nobody@example.org>\nDescription: of a test\n")
    (tree / "usr/share/doc" / name).write_text(text)
    must("dpkg-deb", "--root-owner-group", "--build", tree, folder / f"{name}_1_all.deb")


def write_sums(folder):
    names = sorted(p.name for p in folder.glob("*.deb")) + ["assay.spdx.json"]
    lines = [f"{hashlib.sha256((folder / name).read_bytes()).hexdigest()}  {name}\n" for name in names]
    (folder / "SHA256SUMS").write_text("".join(lines))


def write_spdx(root, folder):
    document = must(sys.executable, "-B", root / "packaging/make_spdx.py", folder, "--version", "1", "--epoch", "0", "--programs", folder)
    (folder / "assay.spdx.json").write_text(document)


class Case:
    def __init__(self, root, work):
        self.root, self.work, self.whole = root, work, work / "whole"
        self.whole.mkdir()
        for name in ("one", "other"):
            must("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", name, "-f", work / name)
        self.signers = work / "signers"
        self.signers.write_text(f"releases@example.org {(work / 'one.pub').read_text()}")
        for name in ("assay-a", "assay-b"):
            make_package(work, self.whole, name, f"text of {name}\n")
        write_spdx(root, self.whole)
        write_sums(self.whole)
        self.sign(self.whole, "one")

    def sign(self, folder, key):
        must(self.root / "packaging/sign_packages.sh", folder, self.work / key)

    def check(self, folder, signers=None):
        return run(self.root / "tools/check_packages.sh", folder, "--signers", signers or self.signers, cwd=self.work)

    def refused(self, claim, words, spoil, signers=None):
        """After `spoil`, which gets a copy of the whole folder, the check fails and says `words`."""
        folder = self.work / "copy"
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(self.whole, folder)
        spoil(folder)
        done = self.check(folder, signers)
        if done.returncode != 1 or words not in done.stderr:
            raise SystemExit(f"FAILED: {claim}: ended with {done.returncode}, and says {done.stdout}{done.stderr}")
        print(f"ok: {claim}", flush=True)


def append(path):
    with path.open("ab") as file:
        file.write(b"x")


def check_refusals(case):
    root, work = case.root, case.work

    def another_package(folder):
        make_package(work, folder, "assay-a", "another text\n")

    def package_and_sums(folder):
        another_package(folder)
        write_spdx(root, folder)
        write_sums(folder)

    def signed_by_other(folder):
        package_and_sums(folder)
        case.sign(folder, "other")

    def stale_spdx(folder):
        another_package(folder)
        write_sums(folder)
        case.sign(folder, "one")

    def wrong_file_in_spdx(folder):
        document = json.loads((folder / "assay.spdx.json").read_text())
        document["files"][0]["checksums"][1]["checksumValue"] = "0" * 64
        (folder / "assay.spdx.json").write_text(json.dumps(document))
        write_sums(folder)
        case.sign(folder, "one")

    def other_purpose(folder):
        (folder / "SHA256SUMS.sig").unlink()
        must("ssh-keygen", "-q", "-Y", "sign", "-f", work / "one", "-n", "file", folder / "SHA256SUMS")

    case.refused("a package with one more byte", "is not the one that", lambda folder: append(folder / "assay-a_1_all.deb"))
    case.refused("another package, and SHA256SUMS made for it", "is not what releases@example.org signed", package_and_sums)
    case.refused("all of it signed with a key that is not trusted", "by none of the keys", signed_by_other)
    case.refused("a package that is not listed", "does not have assay-c_1_all.deb", lambda folder: make_package(work, folder, "assay-c", ""))
    case.refused("a package that is missing", "is not the one that", lambda folder: (folder / "assay-b_1_all.deb").unlink())
    case.refused("no signature", "has no SHA256SUMS.sig", lambda folder: (folder / "SHA256SUMS.sig").unlink())
    case.refused("a signature by the right key for another purpose", "is not what releases@example.org signed", other_purpose)
    case.refused("a signed SPDX document of other packages", "has another checksum for assay-a_1_all.deb", stale_spdx)
    case.refused("a signed SPDX document with another checksum of a file", "does not contain what assay.spdx.json says", wrong_file_in_spdx)
    nobody = work / "nobody"
    nobody.write_text("")
    case.refused("a list of signers without keys", "by none of the keys", lambda folder: None, nobody)


def main():
    root = pathlib.Path(sys.argv[1]).resolve()
    for tool in ("dpkg-deb", "ssh-keygen", "sha256sum"):
        if shutil.which(tool) is None:
            print(f"skipped: {tool} is missing (apt-get install dpkg openssh-client coreutils)")
            return SKIPPED
    with tempfile.TemporaryDirectory() as name:
        case = Case(root, pathlib.Path(name))
        done = case.check(case.whole)
        for words in ("signed by releases@example.org", "2 packages and assay.spdx.json", "describes the 2 files"):
            if done.returncode != 0 or words not in done.stdout:
                raise SystemExit(f"FAILED: what is whole is refused, or not described: {done.stdout}{done.stderr}")
        print("ok: what is whole is accepted")
        check_refusals(case)
    return 0


if __name__ == "__main__":
    sys.exit(main())
