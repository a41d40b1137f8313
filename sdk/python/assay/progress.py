# SPDX-License-Identifier: Apache-2.0
"""What has become of a task so far, beside a training of your own: for programs, for the Trainer of Hugging Face and for Lightning.

A task's losses are not on the chain, which has a state root for each checkpoint. So what these show is the stage of the task, and
how many of its segments were replayed and accepted or rejected: the node's word, which `Core.audit_task` verifies afterwards.
"""
import time
from typing import TYPE_CHECKING, Any, Callable, Dict, NamedTuple, Optional

from .client import Client
from .errors import AssayError

if TYPE_CHECKING:
    from .types import Task

# How the eight stages of a task are called in the explorer, by the states that the RPC has.
STAGES = {"open": "submitted", "drawn": "solver drawn", "profiling": "profiling", "training": "training", "completed": "completed",
          "verifying": "verification", "challenge": "challenge window", "disclosure": "disclosure", "judged": "judged",
          "kept": "settled, the result is kept"}
ACCEPTED = frozenset({"accepted"})
REJECTED = frozenset({"rejected"})


class Progress(NamedTuple):
    state: str          # as task_get has it
    stage: str          # the same for people
    segments: int       # that the task has
    checkpoints: int    # that were posted; one is that of the initialisation
    replayed: int       # verdicts that were published
    accepted: int
    rejected: int
    is_over: bool

    def metrics(self) -> Dict[str, float]:
        """As numbers for loggers."""
        return {"assay_checkpoints": float(self.checkpoints), "assay_segments": float(self.segments),
                "assay_segments_accepted": float(self.accepted), "assay_segments_rejected": float(self.rejected)}

    def __str__(self) -> str:
        return (f"{self.stage}: {max(0, self.checkpoints - 1)} of {self.segments} segments trained, "
                f"{self.accepted} replays accepted, {self.rejected} rejected")


def progress_of(task: "Task") -> Progress:
    """What an answer of task_get says."""
    status = [assignment["status"] for assignment in task["assignments"]]
    accepted, rejected = (sum(each in kind for each in status) for kind in (ACCEPTED, REJECTED))
    state = str(task["state"])
    return Progress(state=state, stage=STAGES.get(state, state), segments=task["segments"], checkpoints=len(task["checkpoints"]),
                    replayed=accepted + rejected, accepted=accepted, rejected=rejected, is_over=state not in STAGES)


class TaskWatch:
    """Looks at a task at most every `every` seconds, for a loop that has other things to do. A node that does not answer is said
    once and never stops the loop."""

    def __init__(self, task: str, node: str, *, every: float = 10.0, say: Callable[[str], None] = print,
                 client: Optional[Client] = None) -> None:
        self.task, self.every, self.say = task, every, say
        self.last: Optional[Progress] = None
        self._client = Client(node, timeout=2.0, retries=0) if client is None else client
        self._next, self._is_silent = 0.0, False

    def look(self, *, now: bool = False) -> Optional[Progress]:
        """The latest progress; None before the node has answered."""
        clock = time.monotonic()
        if (self.last is not None and self.last.is_over) or (clock < self._next and not now):
            return self.last
        self._next = clock + self.every
        try:
            found = progress_of(self._client.task_get(self.task))
        except AssayError as error:
            if not self._is_silent:
                self.say(f"assay: the task's progress is not known: {error}")
            self._is_silent = True
            return self.last
        self._is_silent = False
        if found != self.last:
            self.say(f"assay: task {self.task[:12]} {found}")
        self.last = found
        return found

    def close(self) -> None:
        self._client.close()


def trainer_callback(task: str, node: str, **watch: Any) -> Any:
    """A callback for the Trainer of Hugging Face: the task's stage is printed when it changes, and its numbers are in the logs."""
    from transformers import TrainerCallback  # type: ignore[import-not-found,import-untyped,unused-ignore]

    class TaskStageCallback(TrainerCallback):  # type: ignore[misc,unused-ignore]
        def __init__(self) -> None:
            super().__init__()
            self.watch = TaskWatch(task, node, **watch)

        def on_train_begin(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
            self.watch.look(now=True)

        def on_step_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
            self.watch.look()

        def on_log(self, args: Any, state: Any, control: Any, logs: Optional[Dict[str, Any]] = None, **kwargs: Any) -> None:
            found = self.watch.look()
            if found is not None:
                for target in ([logs] if logs is not None else []) + list(state.log_history[-1:]):
                    target.update(found.metrics())

        def on_train_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
            self.watch.look(now=True)
            self.watch.close()

    return TaskStageCallback()


def lightning_callback(task: str, node: str, **watch: Any) -> Any:
    """The same for Lightning: the numbers are logged by the module."""
    try:
        from lightning.pytorch import Callback  # type: ignore[import-not-found,import-untyped,unused-ignore]
    except ImportError:
        from pytorch_lightning import Callback  # type: ignore[import-not-found,import-untyped,unused-ignore]

    class TaskStageCallback(Callback):  # type: ignore[misc,unused-ignore]
        def __init__(self) -> None:
            super().__init__()
            self.watch = TaskWatch(task, node, **watch)

        def on_train_start(self, trainer: Any, pl_module: Any) -> None:
            self.watch.look(now=True)

        def on_train_batch_end(self, trainer: Any, pl_module: Any, outputs: Any, batch: Any, batch_idx: int) -> None:
            found = self.watch.look()
            if found is not None:
                pl_module.log_dict(found.metrics(), batch_size=1)

        def on_train_end(self, trainer: Any, pl_module: Any) -> None:
            self.watch.look(now=True)
            self.watch.close()

    return TaskStageCallback()
