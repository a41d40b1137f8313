#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compiles the action that docs/how-to/add-an-action.md adds, as the page says.

    add_an_action_test.py COMPILER SOURCE_DIR

Applies the page's blocks to copies of the files that they name, in a folder that is searched before the checkout. Then every
source that knows the list of actions has to compile: what the page forgets is an error there.
"""
import concurrent.futures
import os
import pathlib
import re
import subprocess
import sys
import tempfile

BLOCK = re.compile(r"^```cpp file=(\S+)( list)?\n(.*?)^```$", re.MULTILINE | re.DOTALL)
NAMESPACE_END = "}  // namespace assay::contracts\n"
# What instantiates a template for each action.
SOURCES = [
    "contracts/ledger/ledger.cpp",
    "contracts/transaction/actions.cpp",
    "contracts/transaction/transaction.cpp",
    "contracts/chain/duty.cpp",
    "contracts/chain/router.cpp",
    "contracts/duties/lane.cpp",
    "node/rpc/render_action.cpp",
]


def apply(text, block, is_list):
    if is_list:
        changed, count = re.subn(r"(using Action = std::variant<.*?)(>;)", rf"\1, {block.strip()}\2", text, flags=re.DOTALL)
        assert count == 1, "the list of actions was not found"
        return changed
    assert text.count(NAMESPACE_END) == 1, "the end of the namespace was not found"
    return text.replace(NAMESPACE_END, block + "\n" + NAMESPACE_END)


def main():
    compiler, root = sys.argv[1], pathlib.Path(sys.argv[2])
    page = (root / "docs/how-to/add-an-action.md").read_text()
    blocks = BLOCK.findall(page)
    if len(blocks) != 4:
        sys.exit(f"add-an-action.md has {len(blocks)} blocks of code with a file, not 4")
    with tempfile.TemporaryDirectory() as folder:
        overlay = pathlib.Path(folder)
        for name, is_list, block in blocks:
            copy = overlay / name
            copy.parent.mkdir(parents=True, exist_ok=True)
            copy.write_text(apply((copy if copy.exists() else root / name).read_text(), block, bool(is_list)))

        def compile_one(name):
            source = overlay / name if (overlay / name).exists() else root / name
            command = [compiler, "-std=c++20", "-Wall", "-Wextra", "-fsyntax-only", f"-I{overlay}", f"-I{root}", str(source)]
            return name, subprocess.run(command, capture_output=True, text=True)

        failed = False
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            for name, done in pool.map(compile_one, SOURCES):
                if done.returncode != 0:
                    failed = True
                    print(f"{name} does not compile with the action of the page:\n{done.stderr[:3000]}", file=sys.stderr)
        if failed:
            sys.exit(1)
    print(f"{len(SOURCES)} sources compile with the action of the page")


if __name__ == "__main__":
    main()
