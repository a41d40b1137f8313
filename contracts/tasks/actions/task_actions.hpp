// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <core/base/bytes.hpp>
#include <core/base/fields.hpp>
#include <core/base/integers.hpp>
#include <contracts/params/answer.hpp>
#include <contracts/params/prices.hpp>
#include <contracts/state/environment.hpp>
#include <contracts/state/ids.hpp>
#include <contracts/state/spec.hpp>
#include <core/dispute/opening.hpp>

/// Actions on tasks (TASK rules).
namespace assay::contracts {

struct SubmitTask {  // the task's id is task_id(sender, nonce)
    static constexpr const char* kName = "submit_task";
    static constexpr Answer kAnswer = kNoAnswer;
    static constexpr bool kByOperator = false;
    TaskSpec spec;
    static constexpr auto fields() { return Fields<&SubmitTask::spec>{}; }
    std::uint64_t gas(const Prices& prices) const { return prices.task(7) + prices.profiling(); }
    Amount amount_out(const Params& params) const;
    TaskId new_task(const AccountId& sender, std::uint64_t nonce) const { return task_id(sender, nonce); }
};

struct AcceptTask {  // by the drawn solver, alone or as the lead of a group (GRP-2)
    static constexpr const char* kName = "accept_task";
    static constexpr Answer kAnswer{.owed = Owed::kTask, .bytes_max = kPlainAnswer};
    static constexpr bool kByOperator = true;
    TaskId task;
    std::vector<AccountId> seats = {};       ///< empty, or the account of each seat; the first is the sender's
    std::vector<Signature> signatures = {};  ///< of seats_claim(...), by each other account, in order of first seats
    bool is_together = false;                ///< GRP-11: the members compute each step together
    std::optional<Environment> environment = {};  ///< ENV-4: in which the solver says that it works
    static constexpr auto fields() {
        return Fields<
            &AcceptTask::task, &AcceptTask::seats, &AcceptTask::signatures, &AcceptTask::is_together,
            &AcceptTask::environment>{};
    }
    std::uint64_t gas(const Prices& prices) const { return prices.task(5) + prices.partners(signatures.size()); }
    Amount amount_out(const Params& /*params*/) const { return {}; }
};

struct DeclineTask {  // a drawn solver refuses the task
    static constexpr const char* kName = "decline_task";
    static constexpr Answer kAnswer{.owed = Owed::kTask, .bytes_max = kPlainAnswer};
    static constexpr bool kByOperator = true;
    TaskId task;
    static constexpr auto fields() { return Fields<&DeclineTask::task>{}; }
    std::uint64_t gas(const Prices& prices) const { return prices.task(7); }
    Amount amount_out(const Params& /*params*/) const { return {}; }
};

struct PostCheckpoint {  // checkpoint i is the state after segment i; posted in order, starting at 0
    static constexpr const char* kName = "post_checkpoint";
    static constexpr Answer kAnswer{.owed = Owed::kTask, .bytes_max = kPlainAnswer};
    static constexpr bool kByOperator = true;
    TaskId task;
    std::uint32_t index = 0;
    Hash256 state_root;
    std::string location;                         ///< of the server that has the state's file (ART-10)
    std::optional<Environment> environment = {};  ///< ENV-5: in which its poster says that it computed the segment
    std::optional<SealedFile> sealed = {};        ///< PRV-6: what stores serve of it, if the task is private
    static constexpr auto fields() {
        return Fields<
            &PostCheckpoint::task, &PostCheckpoint::index, &PostCheckpoint::state_root, &PostCheckpoint::location,
            &PostCheckpoint::environment, &PostCheckpoint::sealed>{};
    }
    std::uint64_t gas(const Prices& prices) const { return prices.task(1); }
    Amount amount_out(const Params& /*params*/) const { return {}; }
};

struct CompleteTask {
    static constexpr const char* kName = "complete_task";
    static constexpr Answer kAnswer{.owed = Owed::kTask, .bytes_max = kPlainAnswer};
    static constexpr bool kByOperator = true;
    TaskId task;
    std::optional<Evaluation> evaluation = std::nullopt;  ///< present if and only if the spec asks for an evaluation
    static constexpr auto fields() { return Fields<&CompleteTask::task, &CompleteTask::evaluation>{}; }
    std::uint64_t gas(const Prices& prices) const { return prices.task(6) + prices.task_end(); }
    Amount amount_out(const Params& /*params*/) const { return {}; }
};

struct DeclareDivergence {  // by who would post the next checkpoint: a step of the next segment diverged (NUM-6), which
                            // ends training
    static constexpr const char* kName = "declare_divergence";
    static constexpr Answer kAnswer{.owed = Owed::kTask, .bytes_max = kOpeningAnswer};
    static constexpr bool kByOperator = true;
    TaskId task;
    std::uint64_t step = 0;                 ///< global step number; 0 for the initialisation
    Hash256 state_root;                     ///< state root after that step
    std::string location;                   ///< of the server that has that state's file (ART-10)
    dispute::StateOpening opening;          ///< a tile of that state that contains a non-finite value
    std::optional<SealedFile> sealed = {};  ///< PRV-6
    static constexpr auto fields() {
        return Fields<
            &DeclareDivergence::task, &DeclareDivergence::step, &DeclareDivergence::state_root,
            &DeclareDivergence::location, &DeclareDivergence::opening, &DeclareDivergence::sealed>{};
    }
    std::uint64_t gas(const Prices& prices) const { return prices.task(7) + prices.task_end() + prices.hashed(); }
    Amount amount_out(const Params& /*params*/) const { return {}; }
};

struct CancelTask {  // by the submitter, before a solver has accepted
    static constexpr const char* kName = "cancel_task";
    static constexpr Answer kAnswer = kNoAnswer;
    static constexpr bool kByOperator = false;
    TaskId task;
    static constexpr auto fields() { return Fields<&CancelTask::task>{}; }
    std::uint64_t gas(const Prices& prices) const { return prices.task(6 + prices.profiles()); }
    Amount amount_out(const Params& /*params*/) const { return {}; }
};

}  // namespace assay::contracts
