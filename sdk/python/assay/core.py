# SPDX-License-Identifier: Apache-2.0
"""Keys, signing, proofs and audits, by the native program `assay`: this package has no cryptography of its own."""
import json
import os
import pathlib
import shutil
import subprocess
from typing import Any, Dict, List, Mapping, Optional, Union

from .errors import AssayError
from .units import format_asy

Path = Union[str, "os.PathLike[str]"]
Result = Dict[str, Any]

# What an exit code means (docs/operations/cli.md).
MEANINGS = {
    1: "something else failed", 2: "the arguments are wrong", 3: "a file is wrong", 4: "nobody answers",
    5: "the transaction was refused or failed", 6: "there is no such thing", 7: "it took too long, or the end is not known",
    9: "a replay does not give what the solver claimed", 10: "what a node or a file said does not verify",
    12: "an artifact is not what the chain says it is", 77: "this machine lacks what the demo needs",
}


class CoreError(AssayError):
    """The program ended with an error: `exit_code`, its `meaning`, the stable `name`, `message` and `data`."""

    def __init__(self, exit_code: int, name: str, message: str, data: Mapping[str, Any]) -> None:
        self.exit_code, self.name, self.message, self.data = exit_code, name, message, dict(data)
        self.meaning = MEANINGS.get(exit_code, "the program ended in a way that it should not")
        super().__init__(f"{name}: {message} ({self.meaning})")


class NotVerified(CoreError):
    """What the node or an artifact's server said is not true of the chain (exit codes 9, 10 and 12)."""


class Refused(CoreError):
    """The transaction was refused, or failed in its block (exit code 5)."""


class Uncertain(CoreError):
    """The transaction's end is not known: it may still be executed (exit code 7). The same call again follows it."""


_KINDS = {5: Refused, 7: Uncertain, 9: NotVerified, 10: NotVerified, 12: NotVerified}


def _error(exit_code: int, answer: Any, stderr: str) -> CoreError:
    error = answer.get("error") if isinstance(answer, dict) else None
    if not isinstance(error, dict):
        return CoreError(exit_code, "no_answer", stderr.strip()[-500:] or "the program said nothing", {})
    data = error.get("data")
    return _KINDS.get(exit_code, CoreError)(exit_code, str(error.get("name", "")), str(error.get("message", "")),
                                            data if isinstance(data, dict) else {})


class Server:
    """A child process that serves a store until it is closed, and the `url` that it serves at."""

    def __init__(self, command: List[str]) -> None:
        try:
            self._process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL,
                                             text=True)
        except OSError as error:
            raise CoreError(1, "not_started", f"{command[0]} cannot be started: {error}", {}) from error
        said = ""
        # The program says where it serves in one JSON object, and then goes on.
        for line in self._process.stdout or ():
            said += line
            if line.startswith("}"):
                break
        try:
            self.url = str(json.loads(said)["url"])
        except (ValueError, KeyError):
            self.close()
            raise _error(self._process.returncode or 1, _decoded(said), said) from None

    def __enter__(self) -> "Server":
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    def close(self) -> None:
        self._process.terminate()
        try:
            self._process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        if self._process.stdout is not None:
            self._process.stdout.close()


def _decoded(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return None


class Core:
    """The program `assay`, with one home and one node. Its answers are those of `-o json`, as dicts.

    `path` is where the program is; without it, $ASSAY_BIN (the program, or the folder that it is in) and then PATH are
    searched. `home` has the keys and the pinned chain; `password` opens the keys and reaches the program by its
    environment, never by its arguments. `signer` is the name of the key that signs. Every method raises CoreError.
    """

    def __init__(self, path: Optional[Path] = None, *, node: Optional[str] = None, home: Optional[Path] = None,
                 password: Optional[str] = None, signer: Optional[str] = None, timeout: float = 600.0) -> None:
        self.path = find_program("assay", path)
        self.node, self.home, self.signer, self.timeout = node, home, signer, timeout
        self._password = password

    def run(self, *arguments: Union[str, Path], options: Optional[Mapping[str, Any]] = None, timeout: Optional[float] = None) -> Any:
        """Any command: `core.run("dispute", "explain", id)`. An option's value of None or False leaves it out."""
        command = [self.path, "-o", "json"]
        command += ["--node", self.node] if self.node else []
        command += ["--home", os.fspath(self.home)] if self.home else []
        command += [os.fspath(each) for each in arguments[:2]]
        for name, value in (options or {}).items():
            if value is None or value is False:
                continue
            command += ["--" + name.replace("_", "-")] if value is True else [f"--{name.replace('_', '-')}={os.fspath(value) if isinstance(value, os.PathLike) else value}"]
        # What a caller was handed from elsewhere must never be read as an option.
        rest = [os.fspath(each) for each in arguments[2:]]
        command += ["--", *rest] if rest else []
        if any("\0" in part for part in command):
            raise ValueError("an argument has a zero byte")
        environment = dict(os.environ) if self._password is None else {**os.environ, "ASSAY_PASSWORD": self._password}
        limit = self.timeout if timeout is None else timeout
        try:
            done = subprocess.run(command, capture_output=True, text=True, encoding="utf-8", errors="replace", env=environment,
                                  stdin=subprocess.DEVNULL, timeout=limit)
        except subprocess.TimeoutExpired:
            raise Uncertain(7, "timeout", f"the command took longer than {limit:g} s; what it sent may still be executed", {}) from None
        except OSError as error:
            raise CoreError(1, "not_started", f"{self.path} cannot be started: {error}", {}) from error
        answer = _decoded(done.stdout)
        if done.returncode != 0 or answer is None:
            raise _error(done.returncode or 1, answer, done.stderr)
        return answer

    def _sign(self, *arguments: Union[str, Path], **options: Any) -> Result:
        result: Result = self.run(*arguments, options={"from": self.signer, **options})
        return result

    # --- keys and money ---

    def keys_new(self, name: str) -> Result:
        return dict(self.run("keys", "new", name))

    def keys_import(self, name: str, file: Path) -> Result:
        """Takes in a key file, or a file with a secret as hex that only its owner can read."""
        return dict(self.run("keys", "import", name, file))

    def keys_list(self) -> List[Result]:
        return list(self.run("keys", "list")["keys"])

    def account_show(self, account: Optional[str] = None) -> Result:
        return dict(self.run("account", "show", *([account] if account else [])))

    def transfer(self, to: str, grains: int, *, fee_max_grains: Optional[int] = None) -> Result:
        """Pays `grains` (assay.to_grains("1.5")) and waits until the transaction is in a block that verifies."""
        return self._sign("account", "send", to, format_asy(grains), fee_max=_money(fee_max_grains))

    def stake_bond(self, role: str, grains: int) -> Result:
        return self._sign("stake", "bond", role, format_asy(grains))

    def stake_unbond(self, role: str, grains: int) -> Result:
        return self._sign("stake", "unbond", role, format_asy(grains))

    # --- tasks ---

    def task_lint(self, directory: Path) -> Result:
        return dict(self.run("task", "lint", directory))

    def task_estimate(self, directory: Path) -> Result:
        return dict(self.run("task", "estimate", directory))

    def task_pack(self, directory: Path, *, store: Path) -> Result:
        return dict(self.run("task", "pack", directory, options={"store": store}))

    def task_submit(self, directory: Path, *, store: Path, location: str, force: bool = False) -> Result:
        """Builds the artifacts into `store`, which must be served at `location`, and submits; `task` of the answer is the id."""
        return self._sign("task", "submit", directory, store=store, location=location, force=force)

    def task_serve(self, store: Path, *, listen: str = "127.0.0.1:0") -> Server:
        """Serves a store to solvers and verifiers until the answer is closed."""
        return Server([self.path, "-o", "json", "task", "serve", "--store", os.fspath(store), "--listen", listen])

    def task_status(self, task: str) -> Result:
        return dict(self.run("task", "status", task))

    def task_cancel(self, task: str) -> Result:
        return self._sign("task", "cancel", task)

    def task_fetch(self, task: str, out: Path, *, checkpoint: Optional[int] = None) -> Result:
        """Downloads a checkpoint (the last one) and holds it against the chain's proven state root."""
        return dict(self.run("task", "fetch", task, options={"out": out, "checkpoint": checkpoint}))

    # --- what is verified ---

    def audit_task(self, task: str, *, proposer: Optional[str] = None, max_age_s: Optional[int] = None) -> Result:
        """A task's whole history against a Merkle proof and a signed block. Raises NotVerified."""
        return dict(self.run("audit", "task", task, options={"proposer": proposer, "max_age": max_age_s}))

    def audit_export(self, out: Path, *, task: Optional[str] = None, account: Optional[str] = None, chain: bool = False,
                     height: Optional[int] = None, proposer: Optional[str] = None, max_age_s: Optional[int] = None) -> Result:
        """Writes the records, proofs and signed blocks of a task, of an account or of the whole chain to a file, with tables beside it."""
        return dict(self.run("audit", "export", options={"out": out, "task": task, "account": account, "chain": chain, "height": height,
                                                         "proposer": proposer, "max_age": max_age_s}))

    def audit_verify(self, file: Path, *, proposer: Optional[str] = None) -> Result:
        """Verifies such a file, and the tables beside it, without a node. Raises NotVerified."""
        return dict(self.run("audit", "verify", options={"file": file, "proposer": proposer}))

    def verify_segment(self, task: str, segment: int, *, threads: Optional[int] = None, worker: Optional[Path] = None,
                       proposer: Optional[str] = None) -> Result:
        """Executes a segment again. Raises NotVerified where the replay is not what the solver claimed."""
        options = {"threads": threads, "worker": worker, "proposer": proposer}
        return dict(self.run("verify", "segment", task, str(segment), options=options))

    def verify_slot(self, *, task: Optional[str] = None, account: Optional[str] = None, dispute: Optional[str] = None,
                    key: Optional[str] = None, height: Optional[int] = None, proposer: Optional[str] = None) -> Result:
        """A record of the state with its proof, verified down to a signed block. Raises NotVerified."""
        options = {"task": task, "account": account, "dispute": dispute, "key": key, "height": height, "proposer": proposer}
        return dict(self.run("query", "proof", options=options))

    def penalty_explain(self, task: str, *, account: Optional[str] = None) -> Result:
        return dict(self.run("penalty", "explain", task, options={"account": account}))

    def dispute_explain(self, dispute: str) -> Result:
        return dict(self.run("dispute", "explain", dispute))


def _money(grains: Optional[int]) -> Optional[str]:
    return None if grains is None else format_asy(grains)


def find_program(name: str, path: Optional[Path] = None) -> str:
    """Where a program of Assay is. Raises CoreError."""
    if path is not None:
        chosen = pathlib.Path(path)
    else:
        chosen = pathlib.Path(os.environ.get("ASSAY_BIN") or "")
        if not os.environ.get("ASSAY_BIN"):
            found = shutil.which(name)
            if found is None:
                raise CoreError(1, "not_found", f"there is no program {name} on PATH; set ASSAY_BIN, or pass its path", {})
            return found
    chosen = chosen / name if chosen.is_dir() else chosen
    if not os.access(chosen, os.X_OK):
        raise CoreError(1, "not_found", f"{chosen} is no program that can be executed", {})
    return str(chosen.resolve())
