# SPDX-License-Identifier: Apache-2.0
"""Writes keystore.json with OpenSSL's scrypt (hashlib) and ChaCha20-Poly1305 (PyPI `cryptography`).

The key pair is row 1 of bip340.csv.
"""

import hashlib
import json
import pathlib

from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305

secret = bytes.fromhex("b7e151628aed2a6abf7158809cf4f3c762e7160f38b4da56a784d9045190cfef")
account = bytes.fromhex("dff1d77f2a671c5f36183726db2341be58feae1da2deced843240f7b502ba659")
password = "pa\u00dfwort"
n, r, p = 1024, 8, 2
salt = bytes(range(16))
nonce = bytes(range(100, 112))
sealing = hashlib.scrypt(password.encode(), salt=salt, n=n, r=r, p=p, dklen=32)
ciphertext = ChaCha20Poly1305(sealing).encrypt(nonce, secret, account)
vector = {
    "secret": secret.hex(),
    "account": account.hex(),
    "password": password,
    "n": n,
    "r": r,
    "p": p,
    "salt": salt.hex(),
    "nonce": nonce.hex(),
    "ciphertext": ciphertext.hex(),
}
path = pathlib.Path(__file__).parent / "keystore.json"
path.write_text(json.dumps(vector, indent=2) + "\n")
