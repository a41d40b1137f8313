# SPDX-License-Identifier: Apache-2.0
"""Follows a chain for five blocks: `python3 follow.py http://127.0.0.1:26600`."""
import sys

import assay

with assay.Client(sys.argv[1] if len(sys.argv) > 1 else "http://127.0.0.1:26600") as client:
    print("chain", client.node_status()["chain_id"], "with", assay.format_asy(client.supply_get()["supply"]))
    for task in client.iterate("task_list"):
        print("task", task["id"], task["state"])
    with client.subscribe("blocks") as blocks:
        for _ in range(5):
            message = next(blocks)
            print("block", message["data"]["height"], "sequence number", message["seq"])
