#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Fails when a file includes what its room may not include, and when folders include each other in a circle.

    check_layers.py [ROOT]

Each room lists the rooms and third parties that its files may include, and whether it is pure (docs/architecture.md draws
the arrows). Pure rooms may include only the standard headers listed here: nothing with a clock, a file, a thread, a socket
or an unordered container. A room is a folder with all folders below it that are no rooms themselves. Circles are looked for
folder by folder, whatever the table allows.
"""
import pathlib
import re
import sys

CORE = ["core/base", "core/codec", "core/crypto", "core/merkle"]
RULES = CORE + ["core/canonical", "core/dispute", "core/sealed", "contracts"]
CONSENSUS = ["consensus", "consensus/light", "consensus/solo"]
CLIENT = ["client", "client/http"]
EVERYTHING = ["*"]

# room: (rooms it may include besides itself, third parties, pure?)
ROOMS = {
    "core/base": ([], [], True),
    "core/codec": (["core/base"], [], True),
    "core/crypto": (["core/base"], ["secp256k1", "cryptopp", "multi_buffer", "system"], False),
    "core/keys": (["core/base", "core/crypto"], ["cryptopp", "json", "system"], False),
    "core/merkle": (["core/base", "core/codec", "core/crypto"], [], True),
    "core/system": (["core/base"], ["system"], False),
    "core/canonical": (["core/base", "core/codec"], [], True),
    "core/system/log": ([], ["spdlog", "json"], False),
    "core/system/metrics": (["core/base"], ["system"], False),
    "core/command": ([], ["cli11"], False),
    "core/dispute": (CORE + ["core/canonical"], [], True),
    "core/sealed": (CORE + ["core/canonical", "core/dispute"], [], True),
    "core/sealed/files": (CORE + ["core/canonical", "core/dispute", "core/sealed"], [], False),
    "contracts": (CORE + ["core/canonical", "core/dispute", "core/sealed"], [], True),
    "consensus": (CORE + ["contracts"], ["boost", "system"], False),
    "consensus/light": (CORE, [], True),
    "consensus/solo": (CORE + ["core/system", "contracts", "consensus"], ["system"], False),
    "consensus/cometbft": (CORE + ["core/system", "contracts", "consensus", "consensus/light"], ["boost", "json", "protobuf", "system"], False),
    "client/http": (["core/base"], ["boost", "curl", "openssl", "system"], False),
    "client": (RULES + ["core/keys", "core/system", "core/system/metrics", "client/http", "consensus/light", "consensus/solo"], ["json", "system"], False),
    "client/referee": (RULES + ["consensus/light", "consensus/solo"], [], True),
    "client/signer": (RULES + ["client/referee"], [], True),
    "node/api": (RULES + ["core/system"] + CONSENSUS, ["json", "system"], False),
    "node/state": (CORE + ["core/system", "contracts", "consensus"], ["rocksdb", "system"], False),
    "node/history": (CORE + ["contracts", "consensus", "node/api", "node/state"], ["system"], False),
    "node/explorer": (["core/base", "client/http"], [], False),
    "node/rpc": (RULES + CONSENSUS + CLIENT + ["node/api", "node/explorer"], ["json", "system"], False),
    "node/metrics": (RULES + ["core/system/metrics"] + CONSENSUS + ["node/api"], [], False),
    "node/daemon": (RULES + ["core/command", "core/keys", "core/system", "core/system/log"] + CONSENSUS + CLIENT +
                    ["consensus/cometbft", "node/api", "node/state", "node/history", "node/metrics", "node/rpc"],
                    ["boost", "json", "cli11", "toml", "system"], False),
    "verifier/sandbox": (["core/base", "core/codec"], ["cli11", "seccomp", "system"], False),
    "verifier/compile/program": (CORE + ["core/canonical"], [], True),
    "verifier/compile/onnx": (CORE + ["core/canonical", "verifier/compile/program"], ["onnx"], False),
    "verifier/plan": (CORE + ["core/canonical", "core/dispute", "verifier/compile/program"], [], True),
    "verifier/schedule": (CORE + ["core/canonical", "core/dispute", "verifier/compile/program", "verifier/plan"], [], True),
    "verifier/engine": (CORE + ["core/canonical", "verifier/compile/program", "verifier/plan"], ["torch", "boost", "system"], False),
    "verifier/relay": (["core/base", "core/crypto", "client/http"], ["boost", "system"], False),
    "verifier/stores": (["core/base", "core/codec", "core/crypto", "client/http", "verifier/relay"], ["boost", "json", "system"], False),
    "verifier/artifacts": (RULES + ["core/sealed/files", "client/http", "verifier/compile/program", "verifier/sandbox", "verifier/stores"], ["json", "system"], False),
    "verifier/taskdir": (RULES + ["core/system", "verifier/compile/program", "verifier/compile/onnx", "verifier/artifacts", "verifier/sandbox", "verifier/text"], ["toml"], False),
    "verifier/parser": (CORE + ["core/dispute", "verifier/compile/onnx", "verifier/artifacts", "verifier/sandbox", "verifier/taskdir", "verifier/text"],
                        [], False),
    "verifier/text": (["core/base"], ["json", "pcre2"], False),
    "verifier/roles": (RULES, [], True),
    "verifier/launcher": (RULES + ["core/system"], ["json", "system"], False),
    "verifier/ui": (RULES + ["core/keys", "core/system"] + CLIENT, ["json", "system"], False),
    "verifier/cell": (CORE + ["core/canonical", "core/system", "core/system/log", "client/http", "verifier/compile/program", "verifier/plan",
                      "verifier/engine", "verifier/artifacts"], ["json", "toml", "boost", "openssl"], False),
    "verifier/group": (CORE + ["core/canonical", "core/dispute", "verifier/compile/program", "verifier/plan", "verifier/engine"],
                       [], False),
    "verifier/worker": (RULES + ["core/sealed/files", "core/command", "core/keys", "core/system", "core/system/log", "core/system/metrics"] + CLIENT +
                        ["verifier/compile/program", "verifier/plan", "verifier/engine", "verifier/artifacts", "verifier/cell", "verifier/group",
                         "verifier/launcher", "verifier/relay", "verifier/roles", "verifier/sandbox", "verifier/stores", "verifier/ui"],
                        ["json", "cli11", "sqlite", "system"], False),
    "tools": (EVERYTHING, EVERYTHING, False),
    "tests": (EVERYTHING, EVERYTHING, False),
}

THIRD_PARTIES = {
    "secp256k1": r"secp256k1.*\.h",
    "cryptopp": r"cryptopp/.*|crypto\+\+/.*",
    "multi_buffer": r"intel-ipsec-mb\.h",
    "onnx": r"onnx/.*|google/protobuf/.*",
    "protobuf": r"google/protobuf/.*",
    "torch": r"torch/.*|ATen/.*|c10/.*",
    "rocksdb": r"rocksdb/.*",
    "boost": r"boost/.*",
    "openssl": r"openssl/.*",
    "curl": r"curl/.*",
    "seccomp": r"seccomp\.h",
    "spdlog": r"spdlog/.*",
    "sqlite": r"sqlite3\.h",
    "pcre2": r"pcre2\.h",
    "json": r"nlohmann/.*",
    "cli11": r"CLI/.*",
    "toml": r"toml\+\+/.*|toml\+\+\.h",
    "doctest": r"doctest/.*",
    "system": r"string\.h|malloc\.h|sys/.*|fcntl\.h|unistd\.h|poll\.h|signal\.h|spawn\.h|termios\.h|xmmintrin\.h|immintrin\.h|arm_neon\.h|cpuid\.h|netinet/.*|netdb\.h|arpa/.*|pthread\.h|dlfcn\.h|sched\.h|linux/.*",
}

PURE_STANDARD = set("""algorithm array bit cfloat charconv cmath compare concepts cstddef cstdint cstdio cstdlib cstring functional
initializer_list iterator limits map memory numeric optional set span string string_view tuple type_traits utility variant
vector""".split())
# cstdio and cstdlib are for ASSERT alone, and for the allocator of the build for browsers.
ONLY_IN = {"cstdio": ["core/base/assert.cpp"], "cstdlib": ["core/base/assert.cpp", "client/referee/wasm/", "client/signer/wasm/"],
           "cmath": ["core/canonical/", "verifier/compile/program/", "verifier/schedule/"],
           "charconv": ["core/base/amount.cpp"]}

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


def circles(arrows):
    """The strongly connected components of more than one folder (Tarjan), each a sorted list."""
    order, low, stack, found = {}, {}, [], []

    def visit(folder):
        order[folder] = low[folder] = len(order)
        stack.append(folder)
        for other in sorted(arrows.get(folder, {})):
            if other not in order:
                visit(other)
                low[folder] = min(low[folder], low[other])
            elif other in stack:
                low[folder] = min(low[folder], order[other])
        if low[folder] == order[folder]:
            component = stack[stack.index(folder):]
            del stack[stack.index(folder):]
            if len(component) > 1:
                found.append(sorted(component))

    for folder in sorted(arrows):
        if folder not in order:
            visit(folder)
    return found


def check_circles(arrows):
    """One complaint for each pair of folders that include each other by way of a circle."""
    complaints = []
    for component in circles(arrows):
        complaints.append("folders include each other in a circle: " + ", ".join(component))
        for folder in component:
            for other in component:
                for place in arrows[folder].get(other, [])[:3]:
                    complaints.append(f"    {place}")
    return complaints


def check_tree(root):
    complaints = []
    arrows = {}
    files = [p for pattern in ("*.hpp", "*.cpp") for p in root.rglob(pattern)]
    for file in sorted(files):
        path = file.relative_to(root).as_posix()
        if path.startswith("build/"):
            continue
        folder = path.rpartition("/")[0]
        for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1):
            match = INCLUDE.match(line)
            if not match:
                continue
            complaint = check_include(path, match.group(1), match.group(2))
            if complaint:
                complaints.append(f"{path}:{number}: {complaint}")
            other = match.group(2).rpartition("/")[0]
            if other != folder and room_of(match.group(2)) is not None:
                arrows.setdefault(folder, {}).setdefault(other, []).append(f"{path}:{number}: includes <{match.group(2)}>")
    return files, complaints + check_circles(arrows)


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".").resolve()
    files, complaints = check_tree(root)
    for complaint in complaints:
        print(complaint)
    print(f"layers: {len(files)} files, {len(complaints)} violations")
    return 1 if complaints or not files else 0


if __name__ == "__main__":
    sys.exit(main())
