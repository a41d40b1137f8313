#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes the packages of a build, and installs, upgrades, removes and purges them.

    packages_test.py ROOT BUILD

The installation is dpkg's own, in a copy of this machine: an overlay of its root file system in a mount namespace, whose
changes lie in memory and vanish with the process. Packages whose program BUILD does not have are left out, and named.
Exit status 77: dpkg, root or the right to mount is missing.
"""
import hashlib
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
import installed  # noqa: E402

SKIPPED = 77
PROGRAMS = {"node": "assayd", "cli": "assay", "worker": "assay-worker"}


def run(*command, **options):
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, **options)
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(map(str, command))} ended with {done.returncode}:\n{done.stdout}{done.stderr}")
    return done.stdout


def check(condition, claim):
    if not condition:
        raise SystemExit(f"FAILED: {claim}")
    print(f"ok: {claim}", flush=True)


def skip(why):
    print(f"skipped: {why}")
    sys.exit(SKIPPED)


def look_for_tools():
    for tool in ("dpkg", "dpkg-deb", "ssh-keygen", "dpkg-shlibdeps", "dpkg-parsechangelog", "cpack", "unshare", "xz"):
        if shutil.which(tool) is None:
            skip(f"{tool} is missing (apt-get install dpkg-dev openssh-client util-linux xz-utils)")
    if os.geteuid() != 0:
        skip("only root can install packages")
    probe = subprocess.run(["unshare", "--mount", "mount", "-t", "tmpfs", "none", "/mnt"], capture_output=True, text=True)
    if probe.returncode != 0:
        skip(f"no mount namespace can be made here: {probe.stderr.strip()}")


def package(root, build, out, components, revision, key=None, **surroundings):
    mask = surroundings.pop("umask", 0o022)
    sign = ["--sign", key] if key else []
    run(root / "tools/package.sh", "--out", out, "--revision", revision, "--components", " ".join(components),
        "--compression", "gzip", *sign, build,
        env={**os.environ, **surroundings}, umask=mask, cwd=out.parent)


def check_reproducible(root, work, build, components):
    again = work / "again-in-another-folder"
    package(root, build, again, components, "1", umask=0o077, TZ="Asia/Kathmandu", LC_ALL="C.UTF-8", HOME="/nonexistent")
    print(run(sys.executable, "-B", root / "packaging/compare_packages.py", work / "first", again), end="")
    check(True, "packages made twice with another umask, time zone, home and folder are equal byte for byte")
    # The comparison has to be able to fail.
    (again / "SHA256SUMS").write_text("x")
    found = subprocess.run([sys.executable, "-B", root / "packaging/compare_packages.py", work / "first", again],
                           capture_output=True, text=True)
    check(found.returncode == 1 and "SHA256SUMS: DIFFERS" in found.stdout, "a difference is found")


def check_no_build_paths(root, build, unpacked):
    """Of the preset `package`: other builds have paths in what reports errors."""
    if "ASSAY_REPRODUCIBLE:BOOL=ON" not in (build / "CMakeCache.txt").read_text():
        print("not asked: whether programs name where they were built, since this build's may (preset package)", flush=True)
        return
    for program in PROGRAMS.values():
        for file in (build / "bin" / program, unpacked / "usr/bin" / program):
            if file.exists():
                data = file.read_bytes()
                check(str(root).encode() not in data and str(build).encode() not in data, f"{file.name} does not name where it was built")
                # That it would be seen: paths from the root are there, by which a failed assertion names its file.
                check(program == "assay-worker" or b"./c" in data, f"{file.name} names its sources from the root")


def check_prefix_maps(root, work):
    """Every source that the preset `package` compiles, generated ones too."""
    run("cmake", "-S", root, "--preset", "package", "-B", work / "configured", "-D", "CMAKE_EXPORT_COMPILE_COMMANDS=ON")
    commands = json.loads((work / "configured/compile_commands.json").read_text())
    bare = sorted({entry["file"] for entry in commands if f"-ffile-prefix-map={root}=." not in entry["command"]})
    check(len(commands) > 100 and not bare, f"none of {len(commands)} sources can name where it is compiled {bare}")


def check_spdx(build, packages):
    document = json.loads((packages / "assay.spdx.json").read_text())
    check(document["spdxVersion"] == "SPDX-2.3", "the document is SPDX 2.3")
    by_name = {entry["name"]: entry for entry in document["packages"]}
    for deb in packages.glob("*.deb"):
        name = deb.name.split("_")[0]
        digest = hashlib.sha256(deb.read_bytes()).hexdigest()
        check({"algorithm": "SHA256", "checksumValue": digest} in by_name[name]["checksums"], f"SPDX has the checksum of {deb.name}")
        linked = [r for r in document["relationships"] if r["spdxElementId"] == by_name[name]["SPDXID"] and r["relationshipType"] == "DYNAMIC_LINK"]
        check(any(r["relatedSpdxElement"] == "SPDXRef-Debian-libc6" for r in linked), f"{name} links with libc6 and {len(linked) - 1} others")
    validate_spdx(build, packages / "assay.spdx.json")


def validate_spdx(build, file):
    """By spdx-tools, which the build folder keeps for the next time; from PyPI where that can be reached."""
    venv = build / "packages-venv"
    tool = venv / "bin/pyspdxtools"
    if not tool.exists():
        made = subprocess.run(
            f"{sys.executable} -m venv '{venv}' && '{venv}/bin/pip' install -q --timeout 10 --retries 1 spdx-tools==0.8.3",
            shell=True, capture_output=True, text=True, timeout=300)
        if made.returncode != 0 or not tool.exists():
            print("note: spdx-tools could not be installed, so the document was not validated by it: " + made.stderr.strip()[-200:])
            return
    run(tool, "--infile", file)
    check(True, "spdx-tools finds the document valid")
    broken = file.read_text().replace('"dataLicense": "CC0-1.0"', '"dataLicense": "none"')
    with tempfile.NamedTemporaryFile("w", suffix=".spdx.json") as other:
        other.write(broken)
        other.flush()
        found = subprocess.run([tool, "--infile", other.name], capture_output=True)
        check(found.returncode != 0, "and one with another data licence not")


def check_units(root):
    for unit in sorted((root / "packaging/systemd").glob("*.service")):
        if shutil.which("systemd-analyze") is None:
            print("note: systemd-analyze is not installed, so the units were not judged")
            return
        # The threshold is in tenths: an exposure above 2.0 fails.
        last = run("systemd-analyze", "security", "--offline=true", "--threshold=20", "--no-pager", unit).strip().splitlines()[-1]
        check("exposure level" in last, last.strip("→ "))


def check_lintian(packages):
    if shutil.which("lintian") is None:
        print("note: lintian is not installed")
        return
    done = subprocess.run(["lintian", "--allow-root", "--fail-on", "error", *map(str, sorted(packages.glob("*.deb")))],
                          capture_output=True, text=True, env={**os.environ, "LC_ALL": "C.UTF-8"})
    print(done.stdout, end="")
    check(done.returncode == 0, "lintian finds no error")


def main():
    root, build = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve()
    look_for_tools()
    components = [name for name, program in PROGRAMS.items() if (build / "bin" / program).exists()]
    left_out = sorted(set(PROGRAMS) - set(components))
    if not components:
        skip(f"{build}/bin has none of the programs")
    if left_out:
        print(f"note: not in this build, so not packaged: {', '.join(left_out)}")
    with tempfile.TemporaryDirectory() as name:
        work = pathlib.Path(name)
        package(root, build, work / "first", components, "1")
        run("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", work / "key")
        package(root, build, work / "second", components, "2", key=work / "key")
        (work / "signers").write_text("test " + (work / "key.pub").read_text())
        print(run(root / "tools/check_packages.sh", work / "second", "--signers", work / "signers"), end="")
        check(True, "signed packages pass tools/check_packages.sh")
        run("sha256sum", "--check", "SHA256SUMS", cwd=work / "first")
        check(True, "SHA256SUMS holds")
        for deb in (work / "first").glob("*.deb"):
            run("dpkg-deb", "-x", deb, work / "unpacked")
        check_reproducible(root, work, build, components)
        check_no_build_paths(root, build, work / "unpacked")
        check_prefix_maps(root, work)
        check_spdx(build, work / "first")
        check_units(root)
        check_lintian(work / "first")
        sys.stdout.flush()
        inside = subprocess.run(["unshare", "--mount", "--propagation", "private", sys.executable, "-B", installed.__file__, work, *components])
        check(inside.returncode == 0, "installed, upgraded, removed and purged")


if __name__ == "__main__":
    main()
