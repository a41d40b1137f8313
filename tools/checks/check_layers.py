#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Fails when a file includes what its room may not include (docs/architecture.md has the arrows as a picture).

    check_layers.py [ROOT]

Each room lists the rooms and third parties that its files may include, and whether it is pure. Pure rooms may include
only the standard headers listed here: nothing with a clock, a file, a thread, a socket or an unordered container.
"""
import pathlib
import re
import sys

CORE = ["core/base", "core/codec", "core/crypto", "core/merkle"]
PURE_VERIFIER = ["verifier/canonical", "verifier/trace", "verifier/program"]
EVERYTHING = ["*"]

# room: (rooms it may include besides itself, third parties, pure?)
ROOMS = {
    "core/base": ([], [], True),
    "core/codec": (["core/base"], [], True),
    "core/crypto": (["core/base"], ["secp256k1", "cryptopp", "system"], False),
    "core/system": ([], ["system"], False),
    "core/merkle": (["core/base", "core/codec", "core/crypto"], [], True),
    "verifier/canonical": (["core/base", "core/codec"], [], True),
    "verifier/trace": (CORE + ["verifier/canonical"], [], True),
    "verifier/program": (CORE + ["verifier/canonical"], [], True),
    "verifier/onnx": (CORE + ["verifier/canonical", "verifier/program"], ["onnx"], False),
    "verifier/engine": (CORE + PURE_VERIFIER, ["torch", "system"], False),
    "verifier/artifacts": (CORE + PURE_VERIFIER + ["contracts", "net"], ["json", "system"], False),
    "verifier/roles": (CORE + PURE_VERIFIER + ["contracts"], [], True),
    "verifier/worker": (CORE + PURE_VERIFIER + ["verifier/engine", "verifier/artifacts", "verifier/roles", "contracts",
                        "net", "client"], ["json", "cli11", "system"], False),
    "contracts": (CORE + ["verifier/canonical", "verifier/trace"], [], True),
    "consensus": (CORE + ["contracts"], ["system"], False),
    "consensus/light": (CORE, [], True),
    "consensus/cometbft": (CORE + ["core/system", "contracts", "consensus", "consensus/light", "net"], ["boost", "json", "protobuf", "system"], False),
    "net": (CORE + ["verifier/canonical", "verifier/trace", "contracts"], ["boost", "json", "system"], False),
    "client": (CORE + ["contracts", "consensus", "consensus/light", "net"], ["json", "system"], False),
    "node/storage": (CORE + ["contracts", "consensus"], ["rocksdb", "system"], False),
    "node/history": (CORE + ["contracts", "consensus", "node/storage"], ["system"], False),
    "node/snapshot": (CORE + ["consensus", "node/storage"], ["system"], False),
    "node/rpc": (CORE + ["verifier/canonical", "verifier/trace", "contracts", "consensus", "net", "node/app"],
                 ["json", "system"], False),
    "node/app": (CORE + ["verifier/canonical", "verifier/trace", "contracts", "consensus", "consensus/cometbft", "consensus/light", "net", "node/storage",
                 "node/history", "node/snapshot", "node/rpc"], ["json", "cli11", "toml", "system"], False),
    "tools": (EVERYTHING, EVERYTHING, False),
    "tests": (EVERYTHING, EVERYTHING, False),
}

THIRD_PARTIES = {
    "secp256k1": r"secp256k1.*\.h",
    "cryptopp": r"cryptopp/.*|crypto\+\+/.*",
    "onnx": r"onnx/.*|google/protobuf/.*",
    "protobuf": r"google/protobuf/.*",
    "torch": r"torch/.*|ATen/.*|c10/.*",
    "rocksdb": r"rocksdb/.*",
    "boost": r"boost/.*",
    "json": r"nlohmann/.*",
    "cli11": r"CLI/.*",
    "toml": r"toml\+\+/.*|toml\+\+\.h",
    "doctest": r"doctest/.*",
    "system": r"string\.h|sys/.*|fcntl\.h|unistd\.h|poll\.h|signal\.h|termios\.h|xmmintrin\.h|immintrin\.h|cpuid\.h|netinet/.*|netdb\.h|arpa/.*|pthread\.h|dlfcn\.h",
}

PURE_STANDARD = set("""algorithm array bit cfloat cmath initializer_list compare concepts cstddef cstdint cstdio cstdlib cstring functional iterator
limits map memory numeric optional set span string string_view tuple type_traits utility variant vector""".split())
# cstdio and cstdlib are for ASSERT alone.
ONLY_IN = {"cstdio": ["core/base/assert.cpp"], "cstdlib": ["core/base/assert.cpp"],
           "cmath": ["verifier/canonical/", "verifier/program/"]}

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')


def room_of(path):
    best = None
    for room in ROOMS:
        if (path == room or path.startswith(room + "/")) and (best is None or len(room) > len(best)):
            best = room
    return best


def check_include(path, delimiter, name):
    """The complaint about one include, or None."""
    room = room_of(path)
    if room is None:
        return "is in no room that the table knows"
    allowed, third_parties, pure = ROOMS[room]
    if delimiter == '"':
        return f'includes "{name}": project files are included as <{room}/...>'
    if ".." in name.split("/"):
        return f"includes <{name}>: no relative paths"
    target = room_of(name)
    if target is not None:
        if target == "tests" and room != "tests":
            return f"includes <{name}>: nothing but tests may include tests"
        if target == room or allowed == EVERYTHING or target in allowed:
            return None
        return f"includes <{name}>: {room} may not know {target}"
    for party, pattern in THIRD_PARTIES.items():
        if re.fullmatch(pattern, name):
            if third_parties == EVERYTHING or party in third_parties:
                return None
            return f"includes <{name}>: {party} is not for {room}"
    if "/" in name or name.endswith((".h", ".hpp")):
        return f"includes <{name}>, which no room is known to need"
    if pure:
        if name not in PURE_STANDARD:
            return f"includes <{name}>: {room} is pure"
        if name in ONLY_IN and not path.startswith(tuple(ONLY_IN[name])):
            return f"includes <{name}>: only {', '.join(ONLY_IN[name])} may"
    return None


def check_tree(root):
    complaints = []
    files = [p for pattern in ("*.hpp", "*.cpp") for p in root.rglob(pattern)]
    for file in sorted(files):
        path = file.relative_to(root).as_posix()
        if path.startswith("build/"):
            continue
        for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1):
            match = INCLUDE.match(line)
            if match:
                complaint = check_include(path, match.group(1), match.group(2))
                if complaint:
                    complaints.append(f"{path}:{number}: {complaint}")
    return files, complaints


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".").resolve()
    files, complaints = check_tree(root)
    for complaint in complaints:
        print(complaint)
    print(f"layers: {len(files)} files, {len(complaints)} violations")
    return 1 if complaints or not files else 0


if __name__ == "__main__":
    sys.exit(main())
