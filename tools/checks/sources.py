# SPDX-License-Identifier: Apache-2.0
"""Which files of a checkout are sources of the project, with Git or without it."""
import pathlib
import subprocess

CPP = (".cpp", ".hpp")
CUDA = (".cu", ".cuh")
FOREIGN = ("build", ".git", "__pycache__", "Testing")


def git(root, *arguments):
    """What Git prints, or None where it is missing or `root` is no checkout of its own."""
    try:
        done = subprocess.run(["git", "-C", str(root), *arguments], capture_output=True, text=True)
    except OSError:
        return None
    return done.stdout if done.returncode == 0 else None


def is_checkout(root):
    top = git(root, "rev-parse", "--show-toplevel")
    return top is not None and pathlib.Path(top.strip()).resolve() == pathlib.Path(root).resolve()


def all_files(root):
    """Every file that Git tracks or would track, or, without Git, every file outside build folders."""
    root = pathlib.Path(root)
    if is_checkout(root):
        listed = git(root, "ls-files", "-z", "--cached", "--others", "--exclude-standard")
        return sorted(name for name in set(listed.split("\0")) if name and (root / name).is_file())
    found = []
    for path in root.rglob("*"):
        name = path.relative_to(root)
        if not any(part in FOREIGN for part in name.parts) and path.is_file():
            found.append(name.as_posix())
    return sorted(found)


def files_with(root, endings):
    return [name for name in all_files(root) if name.endswith(endings)]
