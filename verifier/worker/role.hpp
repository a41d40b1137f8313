// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <memory>
#include <optional>

#include <contracts/state/task.hpp>
#include <verifier/roles/offer.hpp>

namespace assay::worker {

struct WorkerContext;

/// A role's duties, executed by the worker.
class Role {
  public:
    virtual ~Role() = default;
    /// Sends the transactions that are due for the tasks of the last refresh: dispute moves first, then by deadline.
    /// Runs no long computation except what a dispute move needs. Returns whether something was sent.
    virtual bool prompt() = 0;
    /// The part of prompt() that needs no disk: makes dispute moves. Returns whether something was sent.
    virtual bool disputes() = 0;
    /// Runs one long computation: of those that can run now, the one with the earliest deadline. Returns whether there
    /// was one.
    virtual bool labour() = 0;
    /// Drops what is kept for a task that has ended.
    virtual void forget(const contracts::TaskId& task) = 0;
    /// Tasks that this role has looked at and does not take, with the reason; nullopt: a step of it could not be run.
    virtual std::map<contracts::TaskId, std::optional<roles::Offer>> declined() const { return {}; }
};

std::unique_ptr<Role> make_solver(WorkerContext& context);
std::unique_ptr<Role> make_verifier(WorkerContext& context);
std::unique_ptr<Role> make_whistleblower(WorkerContext& context);

}  // namespace assay::worker
