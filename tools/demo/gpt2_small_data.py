#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes a text and a tokenizer for `assay demo --model gpt2-small`.

    gpt2_small_data.py DIRECTORY

The text is Perl's documentation, nine megabytes of English and of code, which Debian has in the package perl-doc. The
tokenizer is a byte-level BPE with as many tokens as GPT-2's, trained on that text by the package `tokenizers` from PyPI, in
a virtual environment in DIRECTORY. Leaves DIRECTORY/text.txt and DIRECTORY/tokenizer.json; files that are there are kept.
Ends with 77 where package or network are missing, and says which.
"""
import pathlib
import subprocess
import sys

REQUIREMENT = "tokenizers==0.23.3"
VOCABULARY = 50_257
TRAIN = """
import sys
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
tokenizer = Tokenizer(models.BPE())
tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
tokenizer.decoder = decoders.ByteLevel()
tokenizer.train([sys.argv[1]], trainers.BpeTrainer(
    vocab_size=int(sys.argv[3]), special_tokens=["<|endoftext|>"], show_progress=False,
    initial_alphabet=pre_tokenizers.ByteLevel.alphabet()))
tokenizer.save(sys.argv[2])
"""


def skip(reason):
    print(f"skipped: {reason}")
    sys.exit(77)


def make_text(path):
    pods = sorted({pod.resolve() for pod in pathlib.Path("/usr/share/perl").glob("*/pod/*.pod")})
    if sum(pod.stat().st_size for pod in pods) < 5_000_000:
        skip("there is no text to train on: install the Debian package perl-doc")
    path.write_text("".join(pod.read_text(encoding="utf-8", errors="ignore") for pod in pods), encoding="utf-8")


def make_tokenizer(directory, text, path):
    python = directory / "venv" / "bin" / "python"
    for command in ([sys.executable, "-m", "venv", directory / "venv"],
                    [python, "-m", "pip", "install", "--quiet", REQUIREMENT]):
        done = subprocess.run(list(map(str, command)), capture_output=True, text=True, check=False)
        if done.returncode:
            skip(f"{REQUIREMENT}: {(done.stderr.strip().splitlines() or ['failed'])[-1]}")
    part = path.with_suffix(".part")
    subprocess.run([str(python), "-c", TRAIN, str(text), str(part), str(VOCABULARY)], check=True)
    part.rename(path)


def main():
    directory = pathlib.Path(sys.argv[1]).resolve()
    directory.mkdir(parents=True, exist_ok=True)
    text, tokenizer = directory / "text.txt", directory / "tokenizer.json"
    if not text.exists():
        make_text(text)
    if not tokenizer.exists():
        make_tokenizer(directory, text, tokenizer)


if __name__ == "__main__":
    main()
