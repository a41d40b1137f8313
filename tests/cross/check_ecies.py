#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares ECIES of core/crypto with the package eciespy: what one seals the other opens, and each refuses what is altered.

    check_ecies.py TOOL FOLDER

TOOL is the program of ecies_main.cpp; eciespy is installed from PyPI in a virtual environment in FOLDER, which is kept. Exits 77
with a reason where it cannot be installed.
"""
import os
import pathlib
import random
import subprocess
import sys
import venv

ORDER = 0xFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFEBAAEDCE6AF48A03BBFD25E8CD0364141
PACKAGE = "eciespy>=0.4.7,<0.5"
ROUNDS = 200


def install(folder):
    """The interpreter of an environment with eciespy, or None."""
    interpreter = folder / "venv/bin/python"
    if interpreter.exists() and subprocess.run([interpreter, "-c", "import ecies"], capture_output=True).returncode == 0:
        return interpreter
    venv.create(folder / "venv", with_pip=True, clear=True)
    pip = [interpreter, "-m", "pip", "--disable-pip-version-check", "install", "-q", PACKAGE]
    return interpreter if subprocess.run(pip).returncode == 0 else None


class Tool:
    def __init__(self, path):
        self.process = subprocess.Popen([path], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def ask(self, order, *words):
        self.process.stdin.write(" ".join([order, *(word.hex() or "-" for word in words)]) + "\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline().strip()
        assert line, "the tool ended"
        return None if line == "none" else bytes.fromhex(line[1:])

    def close(self):
        self.process.stdin.close()
        assert self.process.wait() == 0


def even(secret):
    """The account of a secret, and the secret of the point with an even y, as BIP-340 has them."""
    from coincurve import PrivateKey
    point = PrivateKey(secret).public_key.format(compressed=True)
    number = int.from_bytes(secret, "big")
    return point[1:], (number if point[0] == 2 else ORDER - number).to_bytes(32, "big")


def opens(secret, sealed):
    from ecies import decrypt
    try:
        return decrypt(secret, sealed)
    except Exception:  # the package and those below it raise errors of several kinds
        return None


def compare(tool):
    from ecies import encrypt
    draw = random.Random(374)
    parities = set()
    for number in range(ROUNDS):
        secret = draw.randrange(1, ORDER).to_bytes(32, "big")
        account, even_secret = even(secret)
        parities.add(secret == even_secret)
        plaintext = draw.randbytes(draw.choice([0, 1, 15, 16, 17, 32, 1000]))
        ours = tool.ask("seal", account, plaintext, draw.randrange(1, ORDER).to_bytes(32, "big"), draw.randbytes(16))
        assert opens(even_secret, ours) == plaintext, f"round {number}: eciespy does not open what was sealed"
        theirs = encrypt(b"\x02" + account, plaintext)
        assert tool.ask("open", secret, theirs) == plaintext, f"round {number}: what eciespy sealed does not open"
        assert len(ours) == len(theirs)
        for sealed in (ours, theirs):
            altered = bytearray(sealed)
            # Not the first byte: libraries differ in whether they take a point that begins with 6 or 7.
            altered[draw.randrange(1, len(altered))] ^= 1 << draw.randrange(8)
            assert tool.ask("open", secret, bytes(altered)) is None
            assert opens(even_secret, bytes(altered)) is None
    assert parities == {True, False}
    print(f"ecies: {ROUNDS} messages each way, and {2 * ROUNDS} altered ones refused by both")


def main():
    tool, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    if "ASSAY_IN_VENV" not in os.environ:
        folder.mkdir(parents=True, exist_ok=True)
        interpreter = install(folder)
        if interpreter is None:
            print(f"skipped: pip cannot install {PACKAGE}")
            return 77
        return subprocess.run([interpreter, __file__, tool, folder], env={**os.environ, "ASSAY_IN_VENV": "1"}).returncode
    session = Tool(tool)
    compare(session)
    session.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
