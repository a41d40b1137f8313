# SPDX-License-Identifier: Apache-2.0
"""The part of a list that one shard of the long tier takes; tools/long_tier.py sets ASSAY_SHARD."""
import os


def take_share(items):
    """Every COUNT-th item from the INDEX-th on, where ASSAY_SHARD is INDEX/COUNT (from 1); all without it. Programs that are
    started from here on do not see the variable: they do what they are told to."""
    text = os.environ.pop("ASSAY_SHARD", "1/1")
    index, _, count = text.partition("/")
    if not (index.isdigit() and count.isdigit() and 1 <= int(index) <= int(count)):
        raise SystemExit(f"ASSAY_SHARD is INDEX/COUNT, such as 1/4, not {text}")
    return items[int(index) - 1::int(count)]
