#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests what links.py computes by itself; it needs no root."""

import argparse
import pathlib
import tempfile
import unittest

import links

MEMBERS = """
[[members]]
name = "lead"
multiply_adds_per_s = 2.0000e+10
memory_bytes = 100
transfer_ns_per_byte = 1.5
transfer_us_per_message = 20.0
sum_ns_per_byte = 0.5

[[members]]
name = "m1"
multiply_adds_per_s = 1.0000e+09
memory_bytes = 300
transfer_ns_per_byte = 2.5
transfer_us_per_message = 30.0
sum_ns_per_byte = 0.7
host = "lead"
cores = 4

[[links]]
between = ["lead", "m1"]
delay_ms = 20.5
gbit_per_s = 0.09

[[links]]
between = ["lead", "m2"]
delay_ms = 21.5
gbit_per_s = 0.08

[[links]]
between = ["m1", "m2"]
delay_ms = 20.0
gbit_per_s = 0.07
"""
ARGUMENTS = argparse.Namespace(speed=5e8, steps=5, rounds=2, turn_steps=100, slow=None)


class Links(unittest.TestCase):
    def test_hosts_have_all_ranks_but_the_lead_as_members(self):
        text = links.hosts_text(3)
        self.assertIn('lead = "10.77.0.1:4100"', text)
        self.assertEqual(text.count("[[members]]"), 2)
        self.assertIn('name = "m2"\naddress = "10.77.0.3"', text)

    def test_a_members_file_gets_the_speeds_that_ranks_are_held_to(self):
        text = links.at_speeds(MEMBERS, [5e8, 5e7])
        self.assertLess(text.index("multiply_adds_per_s = 5.000000e+08"), text.index("multiply_adds_per_s = 5.000000e+07"))
        self.assertNotIn("e+10", text)
        self.assertEqual(text.count("delay_ms"), MEMBERS.count("delay_ms"))

    def test_one_rank_may_be_slower_than_the_others(self):
        case = links.case_of("gpt-pp:3,1+1f1b8-2-1000-1", argparse.Namespace(**(vars(ARGUMENTS) | {"slow": 1, "slowed_by": 4.0})))
        self.assertEqual((case["plan"], case["ranks"], links.speeds_of(case)), ("pp:3,1+1f1b8", 2, [5e8, 1.25e8]))
        self.assertEqual(links.speeds_of(links.case_of("mlp-dp-3-100-20", ARGUMENTS)), [5e8] * 3)

    def test_links_are_told_by_smallest_median_and_largest(self):
        self.assertEqual(links.links_of(MEMBERS), {"delay_ms": [20.0, 20.5, 21.5], "mbit": [70.0, 80.0, 90.0]})

    def test_what_was_told_of_links_makes_a_members_file_again(self):
        told = links.links_of(MEMBERS)
        again = links.links_of(links.members_of_links(told))
        self.assertEqual([again["delay_ms"][1], again["mbit"][1]], [told["delay_ms"][1], told["mbit"][1]])
        self.assertIn("delay_ms = 20.5", links.members_of_all(links.members_of_links(told), 2, None))

    def test_more_machines_get_links_of_the_median(self):
        text = links.members_of_all(MEMBERS, 8, None)
        self.assertEqual(text.count("[[members]]"), 8)
        self.assertIn("delay_ms = 20.5\ngbit_per_s = 0.08", text)
        self.assertEqual(text.count("memory_bytes = 300"), 8)
        self.assertNotIn("transfer", text)

    def test_machines_get_the_median_overhead_and_half_of_what_forwards(self):
        overheads = links.overheads_of(MEMBERS, {"cpu_s": 3.0, "bytes": 1_000_000_000}, 2)
        self.assertEqual(overheads, {"transfer_ns_per_byte": 2.0, "transfer_us_per_message": 25.0, "sum_ns_per_byte": 0.6,
                                     "forward_ns_per_byte": 3.0, "cores": 2})
        text = links.members_of_all(MEMBERS, 4, overheads)
        self.assertTrue(text.startswith("shared_gbit_per_s = 2.66667\n[default]"))
        self.assertEqual(text.count("transfer_ns_per_byte = 3.5000\ntransfer_us_per_message = 25.0000\nsum_ns_per_byte = 0.6000\n"
                                    'host = "this one"\ncores = 2\n'), 4)

    def test_a_prediction_is_compared_with_the_median_step(self):
        out = links.summary([3.0, 1.0, 2.0], 1.5)
        self.assertEqual(out["measured_s"], {"median": 2.0, "min": 1.0, "max": 3.0})
        self.assertEqual(out["predicted_over_measured"], 0.75)

    def test_utilisation_is_computing_over_a_round_of_all_turns(self):
        # Two replicas, turns of two steps: the lead's own steps take 1 s each, the other's nothing, and the exchange 2 s.
        steps = [1.0, 1.0, 0.0, 2.0, 1.0, 1.0, 0.0, 6.0]
        rounds = links.rounds_of(steps, 4)
        self.assertEqual(rounds, [4.0, 8.0])
        self.assertEqual(links.utilisation(rounds, 2, 0.9)["utilisation"], 0.3)

    def test_a_case_is_known_by_its_name(self):
        case = links.case_of("mlp-pp+1f1b8-4-100-20", ARGUMENTS)
        self.assertEqual((case["plan"], case["ranks"], case["mbit"], case["delay_ms"]), ("pp+1f1b8", 4, 100.0, 20.0))
        self.assertEqual((case["steps"], case["warm_up"]), (5, 1))
        turns = links.case_of("gpt-turns-8-100-100", ARGUMENTS)
        self.assertEqual((turns["steps"], turns["warm_up"], turns["turn_steps"]), (1600, 0, 100))

    def test_what_was_measured_is_measured_again_as_it_was(self):
        old = {"name": "mlp-dp-4-100-20", "model": "mlp", "plan": "dp", "ranks": 4, "links": {"mbit": 100.0, "delay_ms": 20.0},
               "held_to_multiply_adds_per_s": 5e8, "steps_s": [1.0] * 7}
        turns = old | {"name": "mlp-turns-8-100-20", "plan": "turns", "ranks": 8, "turn_steps": 100, "steps_s": [],
                       "rounds_s": [60.0, 61.0]}
        again = argparse.Namespace(again=True, cases=[])
        first, second = links.cases_of(again, {"cases": [old, turns]})
        self.assertEqual(first, links.case_of(old["name"], argparse.Namespace(**(vars(ARGUMENTS) | {"steps": 7}))))
        self.assertEqual(second, links.case_of(turns["name"], ARGUMENTS))
        again.cases = [old["name"]]
        self.assertEqual(links.cases_of(again, {"cases": [old, turns]}), [first])
        self.assertEqual(links.with_result([old, turns], old | {"steps_s": []}), [old | {"steps_s": []}, turns])
        self.assertEqual(links.with_result([old], turns), [old, turns])

    def test_a_task_of_local_replicas_says_so(self):
        with tempfile.TemporaryDirectory() as path:
            links.write_task(pathlib.Path(path) / "task", links.case_of("gpt-turns-8-100-100", ARGUMENTS))
            text = (pathlib.Path(path) / "task/task.toml").read_text()
            self.assertIn('[replicas]\ncount = 8\nexchange = "diloco"\nturn_steps = 100', text)
            links.write_task(pathlib.Path(path) / "other", links.case_of("mlp-dp-4-100-20", ARGUMENTS))
            self.assertNotIn("replicas", (pathlib.Path(path) / "other/task.toml").read_text())

    def test_where_the_kernel_forwards_no_switch_is_shared(self):
        overheads = links.overheads_of(MEMBERS, {}, 2)
        text = links.members_of_all(MEMBERS, 2, overheads)
        self.assertNotIn("shared_gbit_per_s", text)
        self.assertIn("transfer_ns_per_byte = 2.0000\n", text)
        self.assertIn("shared_gbit_per_s", links.shared_text(links.overheads_of(MEMBERS, {"cpu_s": 1.0, "bytes": 1e9}, 2)))


class Signed(unittest.TestCase):
    def test_a_step_is_longer_by_the_median_of_pairs(self):
        case = {"name": "gpt-dp-2-1000-0.1", "model": "gpt", "plan": "dp", "ranks": 2, "mbit": 1000.0, "delay_ms": 0.1}
        each = [1.5, 1.01, 1.0256, 1.04, 0.9]
        steps = {"plain": {}, "signed": {}, "signed_over_plain": {"median": 1.0256, "min": 0.9, "max": 1.5},
                 "signed_over_plain_each": each}
        told = [{"rank": 0, "steps_s": steps, "statements_s": 0.002, "cpu_s": {"plain": 1, "signed": 2}, "sent_bytes": 7,
                 "is_one_state": True},
                {"rank": 1, "statements_s": 0.003, "cpu_s": {"plain": 3, "signed": 4}, "sent_bytes": 7}]
        result = links.signed_result(case, told, {"frames": 1}, 0.5)
        self.assertEqual([result["longer_by"], result["longer_by_95"], result["steps"]], [0.0256, [-0.1, 0.5], 5])
        self.assertEqual(result["statements_s"], [0.002, 0.003])
        self.assertEqual(result["links"], {"mbit": 1000.0, "delay_ms": 0.1})

    def test_an_interval_of_the_median_has_the_tabulated_ranks(self):
        # The usual table of ranks of 95 % intervals: 2 and 8 of 9, 6 and 16 of 21, 14 and 28 of 41.
        for n, low, high in ((5, 1, 5), (9, 2, 8), (21, 6, 16), (41, 14, 28)):
            self.assertEqual(links.median_interval(range(n, 0, -1)), [low, high])


if __name__ == "__main__":
    unittest.main()
