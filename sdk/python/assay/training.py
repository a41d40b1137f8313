# SPDX-License-Identifier: Apache-2.0
"""From a torch.nn.Module to a task that is trained and paid for, and back to its parameters."""
import importlib.util
import json
import pathlib
import sys
import tempfile
import time
from types import ModuleType
from typing import Any, Dict, List, Mapping, Optional, Sequence

from .client import Client
from .core import Core, Path, Server
from .errors import AssayError
from .progress import Progress, progress_of
from .subscription import Subscription

OVER = frozenset({"settled", "convicted", "cancelled", "expired", "refused"})


class TaskFailed(AssayError):
    """The task ended in another way than by being settled; `state` says how."""

    def __init__(self, task: str, state: str) -> None:
        super().__init__(f"task {task} is {state}: there is no result to be had; penalty_explain and task_history say why")
        self.task, self.state = task, state


def _exporter() -> ModuleType:
    """tools/export, which is part of this package. Raises ImportError without PyTorch."""
    name = "assay_export"
    if name not in sys.modules:
        file = pathlib.Path(__file__).resolve().parent / "exporter" / "assay_export.py"
        spec = importlib.util.spec_from_file_location(name, file)
        if spec is None or spec.loader is None:
            raise ImportError(f"{file} is missing from this installation")
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        sys.modules[name] = module
    return sys.modules[name]


class Training:
    """A task that was submitted: `id`, `notes` of the export, and what becomes of it.

    While it is open, its artifacts are served from this process's child, unless submit() was given a `location`; keep it
    open until the task has ended. As a context manager it closes itself.
    """

    def __init__(self, task: str, notes: List[str], core: Core, client: Client, model: Any, server: Optional[Server]) -> None:
        self.id, self.notes = task, notes
        self._core, self._client, self._model, self._server = core, client, model, server

    def __enter__(self) -> "Training":
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    def close(self) -> None:
        """Stops serving the artifacts. Solvers and verifiers cannot fetch them any more."""
        if self._server is not None:
            self._server.close()
        self._client.close()

    def state(self) -> str:
        return str(self._client.task_get(self.id)["state"])

    def events(self, *, after: int = 0) -> Subscription:
        """What happens in the task, from its submission on: the node's word."""
        return self._client.subscribe("task", task=self.id, after=after)

    def wait(self, timeout: Optional[float] = None) -> str:
        """Returns "settled", or "kept" while the solver is paid for keeping the result. Raises TaskFailed for every other
        end, and TimeoutError after `timeout` seconds."""
        deadline = None if timeout is None else time.monotonic() + timeout
        while True:
            # The height comes first, so that a block between the two questions is not waited for in vain.
            height = self._client.node_status()["height"]
            state = self.state()
            if state in ("settled", "kept"):
                return state
            if state in OVER:
                raise TaskFailed(self.id, state)
            left = 10.0 if deadline is None else min(10.0, deadline - time.monotonic())
            if left <= 0:
                raise TimeoutError(f"task {self.id} is still {state} after {timeout:g} s")
            self._client.chain_wait(height, timeout_ms=max(1, int(left * 1000)))

    def progress(self) -> Progress:
        """The task's stage and how many segments were replayed so far: the node's word."""
        return progress_of(self._client.task_get(self.id))

    def reports(self) -> List[Dict[str, Any]]:
        """What verifiers report on the task's checks: segment, verifier, and the numbers of the checks that failed; the
        node's word. Nobody is paid or punished for what failed."""
        return [{"segment": item["segment"], "verifier": item["verifier"], "failed": item["failed_checks"]}
                for item in self._client.task_get(self.id)["assignments"] if item["failed_checks"] is not None]

    def result(self) -> Dict[str, Any]:
        """Waits for the settlement, and returns the model's state_dict with the parameters of the last checkpoint, which the
        core has held against the chain's proven state root. The model itself stays as it is."""
        import copy
        self.wait()
        with tempfile.TemporaryDirectory(prefix="assay-result-") as folder:
            file = pathlib.Path(folder) / "checkpoint.safetensors"
            self._core.task_fetch(self.id, file)
            trained = copy.deepcopy(self._model)
            missing = _exporter().load_checkpoint(trained, file)
        # A checkpoint leaves out what is not trained; that is part of the program and is the model's own.
        needed = {name for name, parameter in trained.named_parameters() if parameter.requires_grad}
        if needed & set(missing):
            raise AssayError(f"the checkpoint has no {', '.join(sorted(needed & set(missing)))}")
        return dict(trained.state_dict())

    def save(self, path: Path) -> pathlib.Path:
        """Waits for the settlement, and writes the last checkpoint to a file of safetensors; needs no PyTorch."""
        self.wait()
        file = pathlib.Path(path)
        self._core.task_fetch(self.id, file)
        return file

    def result_bytes(self) -> bytes:
        """The same checkpoint as a safetensors file; needs no PyTorch."""
        self.wait()
        with tempfile.TemporaryDirectory(prefix="assay-result-") as folder:
            file = pathlib.Path(folder) / "checkpoint.safetensors"
            self._core.task_fetch(self.id, file)
            return file.read_bytes()


Checks = Mapping[str, Any]


def _wishes(image: Optional[str], labels: Sequence[str], checks: Optional[Checks]) -> str:
    """The sections [environment] and [checks] of a task.toml. JSON's texts, lists and numbers are TOML's too."""
    lines: List[str] = []
    if image is not None or labels:
        lines.append("\n[environment]")
        if image is not None:
            lines.append(f"image = {json.dumps(image)}")
        lines.append(f"labels = {json.dumps(list(labels))}")
    tables = {key: value for key, value in (checks or {}).items() if isinstance(value, Mapping)}
    if checks:
        lines.append("\n[checks]")
        lines += [f"{json.dumps(key)} = {json.dumps(list(value))}" for key, value in checks.items() if key not in tables]
    for key, table in tables.items():
        lines.append(f"\n[checks.{json.dumps(key)}]")
        lines += [f"{json.dumps(name)} = {json.dumps(value)}" for name, value in table.items()]
    return "".join(line + "\n" for line in lines)


def submit(model: Any, loss: Any, data: Any, optimizer: Any, *, core: Core, directory: Path, reward: str = "20 ASY",
           location: Optional[str] = None, listen: str = "127.0.0.1:0", image: Optional[str] = None,
           labels: Sequence[str] = (), checks: Optional[Checks] = None, **export: Any) -> Training:
    """Writes a task directory, packs its artifacts beside it, serves them, and submits the task.

    `model`, `loss`, `data` and `optimizer` are module, loss, dataset and optimizer of tools/export; `export` are its other
    arguments (steps, batch_size, scheduler, ...). `core` has a node and a signer. Workers fetch the artifacts at `listen`,
    an address of this machine that they can reach; with `location`, the caller serves directory/store there instead.
    `image` ("sha256:...") and `labels` ("key=value") ask for solvers that say that they run in that image, with these
    labels. `checks` are what verifiers report on, as [checks] of task.toml has them: {"finite": ["*"], "shape":
    {"w": "f32 16x32"}, "range": {"w": [-1.0, 1.0]}, "labels": {"classes": 10}}; reports() has what they found.
    Raises the ExportError of tools/export where the model cannot be a task, and CoreError.
    """
    if core.node is None:
        raise ValueError("the core needs a node: assay.Core(node=\"http://...\")")
    root = pathlib.Path(directory)
    store = root / "store"
    notes = _exporter().export(root / "task", module=model, loss=loss, dataset=data, optimizer=optimizer, reward=reward, **export)
    with open(root / "task" / "task.toml", "a", encoding="utf-8") as file:
        file.write(_wishes(image, labels, checks))
    store.mkdir(parents=True, exist_ok=True)
    server = core.task_serve(store, listen=listen) if location is None else None
    try:
        submitted = core.task_submit(root / "task", store=store, location=location or (server.url if server else ""))
    except BaseException:
        if server is not None:
            server.close()
        raise
    return Training(submitted["task"], list(notes), core, Client(core.node), model, server)
