# SPDX-License-Identifier: Apache-2.0
"""What task.toml says of a torch optimizer and of a scheduler of its learning rate."""
import copy
import math
import warnings

import torch

from tensor_files import ExportError


def _shared(groups, key):
    values = {group[key] for group in groups}
    if len(values) > 1:
        raise ExportError(f"the optimizer's groups differ in {key}: a task has one value for all parameters")
    return values.pop()


def _weight_decay(module, groups):
    """The one decay of a task, and the names of the parameters that it applies to; None where these are the parameters of
    two dimensions or more, which is what a task does by itself."""
    values = {group["weight_decay"] for group in groups if group["weight_decay"] != 0}
    if len(values) > 1:
        raise ExportError(f"the optimizer's groups have several weight decays, {sorted(values)}: a task has one")
    decay = float(values.pop()) if values else 0.0
    decayed = {id(p) for group in groups if group["weight_decay"] != 0 for p in group["params"]}
    trained = {id(p) for group in groups for p in group["params"]}
    parameters = [(name, p) for name, p in module.named_parameters() if id(p) in trained]
    if not decay or all((p.dim() >= 2) == (id(p) in decayed) for _, p in parameters):
        return decay, None
    return decay, [name for name, p in parameters if id(p) in decayed]


def _rates(module, groups, scheduled):
    """The rate of the first group, and {name: factor} of the parameters that have another."""
    rates = [float(group.get("initial_lr", group["lr"]) if scheduled else group["lr"]) for group in groups]
    first = rates[0]
    factors = {id(p): rate for group, rate in zip(groups, rates) for p in group["params"] if rate != first}
    if factors and first == 0:
        raise ExportError("the first of the optimizer's groups has a learning rate of 0: put it behind another")
    return first, {name: factors[id(p)] / first for name, p in module.named_parameters() if id(p) in factors}


def optimizer_keys(module, optimizer, scheduled, notes):
    """task.toml's [optimizer] for a torch.optim object, and what [model] says of single parameters."""
    kinds = {
        torch.optim.SGD: "sgd", torch.optim.RMSprop: "rmsprop", torch.optim.Adam: "adam", torch.optim.AdamW: "adamw"}
    kind = kinds.get(type(optimizer))
    if kind is None:
        raise ExportError(f"{type(optimizer).__name__} is not supported: SGD, RMSprop, Adam and AdamW are")
    groups = optimizer.param_groups
    if kind == "adam" and any(group.get("decoupled_weight_decay") for group in groups):
        kind = "adamw"
    for flag in ("maximize", "amsgrad", "centered", "dampening"):
        if any(group.get(flag) for group in groups):
            raise ExportError(f"{type(optimizer).__name__}({flag}={groups[0][flag]}) is not supported")
    if optimizer.state:
        notes.append("what the optimizer has accumulated is not exported: its averages start from zero")
    rate, rates = _rates(module, groups, scheduled)
    keys, of_parameters = {"kind": kind, "learning_rate": rate}, {"rates": rates} if rates else {}
    if kind == "sgd":
        keys["momentum"] = float(_shared(groups, "momentum"))
        if _shared(groups, "nesterov"):
            keys["nesterov"] = True
    elif kind == "rmsprop":
        keys |= {"alpha": float(_shared(groups, "alpha")), "epsilon": float(_shared(groups, "eps"))}
        keys["momentum"] = float(_shared(groups, "momentum"))
    else:
        keys["beta1"], keys["beta2"] = (float(beta) for beta in _shared(groups, "betas"))
        keys["epsilon"] = float(_shared(groups, "eps"))
    decay, decayed = _weight_decay(module, groups)
    if decay:
        keys["weight_decay"] = decay
    if decayed is not None:
        of_parameters["decayed"] = decayed
    return keys, of_parameters


def _factors(optimizer, scheduler, updates):
    """What the scheduler multiplies the learning rate by at each update; leaves both as they were."""
    if isinstance(scheduler, torch.optim.lr_scheduler.ReduceLROnPlateau):
        raise ExportError("ReduceLROnPlateau depends on the loss; a task's learning rate depends on the step alone")
    groups = optimizer.param_groups
    before = copy.deepcopy(scheduler.state_dict()), [_settings(group) for group in groups]
    factors = []
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # that optimizer.step() was not called
            for _ in range(updates):
                factors.append(_factor_of_all(groups))
                for group, (_, others) in zip(groups, before[1]):
                    if _settings(group)[1] != others:
                        raise ExportError(
                            f"{type(scheduler).__name__} changes more than the learning rate, such as the momentum, which a "
                            "task does not: of OneCycleLR and CyclicLR pass cycle_momentum=False")
                if len(factors) < updates:
                    scheduler.step()
    finally:
        scheduler.load_state_dict(before[0])
        for group, (rate, others) in zip(groups, before[1]):
            group.update(others, lr=rate)
    return factors


def _settings(group):
    """The learning rate, and what else a scheduler may change."""
    return group["lr"], {key: group[key] for key in ("momentum", "betas", "weight_decay") if key in group}


def _factor_of_all(groups):
    """What the rate of every group is multiplied by at this update."""
    factors = [float(group["lr"]) / float(group["initial_lr"]) for group in groups]
    if any(abs(factor - factors[0]) > 1e-9 * max(1.0, factors[0]) for factor in factors):
        raise ExportError("the scheduler multiplies the learning rates of the optimizer's groups by different factors")
    return factors[0]


def _warm(warmup, from_zero, update):
    return min((update + (0 if from_zero else 1)) / warmup, 1.0) if warmup else 1.0


def _factor(kind, warmup, total, final, update, from_zero=False):
    """The definition of a task's schedule."""
    factor = _warm(warmup, from_zero, update)
    if kind == "constant":
        return factor
    progress = min(max((update - warmup) / (total - warmup), 0.0), 1.0)
    left = (1 + math.cos(math.pi * progress)) / 2 if kind == "cosine" else 1 - progress
    return factor * (final + (1 - final) * left)


def _fits(factors, kind, warmup, total, final, from_zero=False):
    return all(
        abs(_factor(kind, warmup, total, final, update, from_zero) - factor) <= 1e-6
        for update, factor in enumerate(factors))


def _warmup_of(factors):
    """(updates, whether the first has nothing of the rate) of the warm-up that the factors begin with."""
    if 0 < factors[0] < 1:
        return round(1 / factors[0]), False
    if factors[0] == 0 and len(factors) > 1 and 0 < factors[1] <= 1:
        return round(1 / factors[1]), True
    return 0, False


def _step_keys(factors, warmup, from_zero):
    """Of a rate that is multiplied by one number after each period; None if it is not."""
    rest = factors[warmup:]
    period = next((u for u in range(1, len(rest)) if abs(rest[u] - rest[0]) > 1e-9), None)
    if period is None or not 0 < rest[period] < rest[0]:
        return None
    gamma = rest[period] / rest[0]
    for update, factor in enumerate(factors):
        passed = max(0, update - warmup) // period
        if abs(_warm(warmup, from_zero, update) * gamma ** passed - factor) > 1e-6:
            return None
    return {"period": period, "gamma": float(f"{gamma:.9g}")}


def _candidates(scheduler, factors, warmup):
    """Updates at which a falling schedule may end: what the scheduler says, where it stops falling, the run's end."""
    found = [len(factors)]
    pending = [scheduler]
    while pending:
        part = pending.pop()
        pending += getattr(part, "_schedulers", [])
        for length in ("T_max", "total_iters"):
            if isinstance(getattr(part, length, None), int):
                found += [getattr(part, length), getattr(part, length) + warmup]
    flat = next((u for u in range(len(factors) - 1, 0, -1) if abs(factors[u] - factors[u - 1]) > 1e-12), None)
    return found + ([flat] if flat is not None else [])


MAX_POINTS = 64


def _bends(factors):
    """The updates at which straight lines through the factors change their slope."""
    inner = [u for u in range(1, len(factors) - 1)
             if abs(factors[u + 1] - 2 * factors[u] + factors[u - 1]) > 1e-7 * max(factors)]
    return [0, *inner, len(factors) - 1] if len(factors) > 1 else [0]


def _at(updates, values, is_curved, update):
    """The definition of a task's schedule of points."""
    for (start, end), (one, other) in zip(zip(updates, updates[1:]), zip(values, values[1:])):
        if update < end:
            share = max(0.0, (update - start) / (end - start))
            share = (1 - math.cos(math.pi * share)) / 2 if is_curved else share
            return one * (1 - share) + other * share
    return values[-1]


def _points_keys(scheduler, factors):
    """Of a rate that goes from point to point; None where that takes too many."""
    base = factors[0]
    found = [(_bends(factors), [factors[u] for u in _bends(factors)], False)]
    phases = getattr(scheduler, "_schedule_phases", None)  # OneCycleLR's, whose ends may lie between updates
    if phases and base > 0:
        group = scheduler.optimizer.param_groups[0]
        ends = [0.0, *(float(phase["end_step"]) for phase in phases)]
        rates = [group[phases[0]["start_lr"]], *(group[phase["end_lr"]] for phase in phases)]
        found += [(ends, [float(rate) / float(group["initial_lr"]) for rate in rates], curved) for curved in (True, False)]
    for updates, values, is_curved in reversed(found):
        fits = len(updates) <= MAX_POINTS and all(
            abs(_at(updates, values, is_curved, update) - factor) <= 1e-6 * max(factors) for update, factor in enumerate(factors))
        if fits:
            keys = {"kind": "points", "updates": [float(u) for u in updates], "factors": [float(f"{v:.9g}") for v in values]}
            return keys | ({"curved": True} if is_curved else {})
    return None


def schedule_keys(optimizer, scheduler, updates):
    """task.toml's [schedule] with the same learning rates as a torch scheduler, update by update."""
    factors = _factors(optimizer, scheduler, updates)
    warmup, from_zero = _warmup_of(factors)
    keys = {"warmup_updates": warmup} if warmup > 1 or from_zero else {}
    keys |= {"warmup_from_zero": True} if from_zero else {}
    warmup = keys.get("warmup_updates", 0)
    if _fits(factors, "constant", warmup, 0, 0.0, from_zero):
        return {"kind": "constant", **keys}
    step = _step_keys(factors, warmup, from_zero)
    if step is not None:
        return {"kind": "step", **keys, **step}
    last = len(factors) - 1
    for total in _candidates(scheduler, factors, warmup):
        for kind in ("cosine", "linear"):
            if total <= warmup or last < warmup:
                continue
            # The factor is final + (1 - final) * left: solve for final where left is smallest.
            left = _factor(kind, warmup, total, 0.0, last, from_zero)
            final = (factors[last] - left) / (1 - left) if left < 1 else 0.0
            final = 0.0 if abs(final) < 1e-9 else float(f"{final:.9g}")
            if 0 <= final <= 1 and _fits(factors, kind, warmup, total, final, from_zero):
                return {"kind": kind, **keys, "total_updates": total, "final_fraction": final}
    points = _points_keys(scheduler, factors)
    if points is not None:
        return points
    raise ExportError(
        f"the learning rates of {type(scheduler).__name__} are not a task's: those warm up as (t+1)/n or t/n for n updates "
        "if at all, and then stay, fall by a factor after each period, or fall along a cosine or a straight line to where they "
        f"stay; or go straight from point to point, {MAX_POINTS} at most")
