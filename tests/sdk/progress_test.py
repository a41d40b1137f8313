# SPDX-License-Identifier: Apache-2.0
"""A task's progress, and the callbacks that show it beside a training, with stand-ins for the libraries whose callbacks they are.

    progress_test.py BINARIES

run.py starts it with the Python of a fresh virtual environment, where the package is.
"""
import pathlib
import sys
import tempfile
import types
import unittest

import assay

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import chains  # noqa: E402

BINARIES = pathlib.Path(sys.argv.pop(1))
EVENTS = ("on_init_end", "on_train_begin", "on_epoch_begin", "on_step_begin", "on_step_end", "on_log", "on_epoch_end", "on_train_end")


class TrainerCallback:
    """As transformers has it: every event is a method, and what it returns may replace the control."""


for _name in EVENTS:
    setattr(TrainerCallback, _name, lambda self, args, state, control, **kwargs: None)


class LightningCallback:
    """As lightning.pytorch has it, as far as it is called here."""

    def on_train_epoch_start(self, trainer, pl_module):
        pass


class FakeTrainer:
    """Calls a callback as the Trainer of transformers does, and logs every second step."""

    def __init__(self, callback, steps):
        self.callback, self.steps = callback, steps
        self.state = types.SimpleNamespace(log_history=[], global_step=0)

    def event(self, name, **more):
        returned = getattr(self.callback, name)(object(), self.state, "control", model=None, **more)
        assert returned is None, "a callback that returns something replaces the Trainer's control"

    def train(self):
        for name in ("on_init_end", "on_train_begin", "on_epoch_begin"):
            self.event(name)
        for step in range(self.steps):
            self.event("on_step_begin")
            self.event("on_step_end")
            if step % 2 == 1:
                logs = {"loss": 1.0 / (step + 1)}
                self.state.log_history.append({**logs, "step": step})
                self.event("on_log", logs=logs)
        self.event("on_epoch_end")
        self.event("on_train_end")


class Counted(assay.Client):
    asked = 0

    def task_get(self, *given, **more):
        Counted.asked += 1
        return super().task_get(*given, **more)


class Callbacks(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory(prefix="assay-sdk-")
        cls.process, cls.url = chains.recorded(BINARIES, cls.folder.name)
        with assay.Client(cls.url) as client:
            cls.tasks = {task["state"]: task["id"] for task in client.iterate("task_list")}
            cls.records = {state: client.task_get(task) for state, task in cls.tasks.items()}
        sys.modules["transformers"] = types.SimpleNamespace(TrainerCallback=TrainerCallback)
        sys.modules["lightning"] = types.SimpleNamespace()
        sys.modules["lightning.pytorch"] = types.SimpleNamespace(Callback=LightningCallback)

    @classmethod
    def tearDownClass(cls):
        chains.stop(cls.process)
        cls.folder.cleanup()

    def test_progress_is_what_the_task_says(self):
        settled = assay.progress_of(self.records["settled"])
        self.assertEqual((settled.state, settled.is_over, settled.checkpoints), ("settled", True, 9))
        self.assertEqual((settled.accepted, settled.rejected), (4, 0))
        self.assertIn("8 of 8 segments trained, 4 replays accepted", str(settled))
        self.assertEqual(settled.metrics()["assay_segments_accepted"], 4.0)
        self.assertTrue(assay.progress_of(self.records["convicted"]).is_over)
        midway = {**self.records["settled"], "state": "verifying"}
        midway["assignments"] = [{**midway["assignments"][0], "status": status} for status in ("due", "accepted", "committed", "rejected")]
        found = assay.progress_of(midway)
        self.assertEqual((found.stage, found.is_over, found.replayed, found.accepted, found.rejected), ("verification", False, 2, 1, 1))

    def test_the_trainers_logs_have_the_tasks_numbers(self):
        said = []
        callback = assay.trainer_callback(self.tasks["settled"], self.url, every=0.0, say=said.append)
        self.assertIsInstance(callback, TrainerCallback)
        trainer = FakeTrainer(callback, steps=6)
        trainer.train()
        self.assertEqual(len(trainer.state.log_history), 3)
        for entry in trainer.state.log_history:
            self.assertEqual((entry["assay_checkpoints"], entry["assay_segments_accepted"]), (9.0, 4.0))
            self.assertIn("loss", entry)
        self.assertEqual(len(said), 1, said)  # said when it changes, not at every step
        self.assertIn("settled", said[0])

    def test_lightnings_module_logs_the_same(self):
        logged = []
        module = types.SimpleNamespace(log_dict=lambda metrics, **more: logged.append(metrics))
        callback = assay.lightning_callback(self.tasks["convicted"], self.url, every=0.0, say=lambda text: None)
        self.assertIsInstance(callback, LightningCallback)
        callback.on_train_start(None, module)
        for batch in range(3):
            callback.on_train_batch_end(None, module, None, None, batch)
        callback.on_train_end(None, module)
        self.assertEqual(len(logged), 3)
        self.assertEqual(logged[0]["assay_checkpoints"], 9.0)

    def test_the_node_is_asked_seldom_and_never_stops_a_training(self):
        Counted.asked = 0
        watch = assay.TaskWatch(self.tasks["settled"], self.url, every=60.0, say=lambda text: None, client=Counted(self.url))
        for _ in range(50):
            watch.look()
        self.assertEqual(Counted.asked, 1)
        watch.close()
        said = []
        absent = assay.TaskWatch(self.tasks["settled"], "http://127.0.0.1:9", every=0.0, say=said.append)
        self.assertIsNone(absent.look())
        self.assertIsNone(absent.look())
        self.assertEqual(len(said), 1, "said once")
        unknown = assay.TaskWatch("00" * 32, self.url, every=0.0, say=said.append)
        self.assertIsNone(unknown.look())
        self.assertEqual(len(said), 2)


if __name__ == "__main__":
    unittest.main()
