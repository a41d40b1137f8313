#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Fails when an archive of pure code refers to what a validator must not depend on: clocks, files, threads, sockets.

    check_symbols.py ARCHIVE...
"""
import re
import subprocess
import sys

DENIED = re.compile(
    r"_clock::now|random_device|basic_filebuf|basic_ofstream|basic_ifstream|std::locale|"
    r"^(getenv|setlocale|pthread_create|socket|connect|open|openat|fopen|time|clock_gettime|rand|getrandom)(@|$)"
)


def undefined_symbols(archive):
    listing = subprocess.run(["nm", "-uC", archive], capture_output=True, text=True, check=True).stdout
    return [line.strip().removeprefix("U ").strip() for line in listing.splitlines() if line.strip().startswith("U ")]


def main():
    if len(sys.argv) < 2:
        print(__doc__, file=sys.stderr)
        return 2
    complaints = 0
    for archive in sys.argv[1:]:
        for symbol in undefined_symbols(archive):
            if DENIED.search(symbol):
                print(f"{archive}: pure code refers to {symbol}")
                complaints += 1
    print(f"symbols: {len(sys.argv) - 1} archives, {complaints} violations")
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())
