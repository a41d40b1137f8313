// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <contracts/state/task.hpp>
#include <verifier/cell/tls_collective.hpp>
#include <verifier/engine/cell/session.hpp>
#include <verifier/group/signed_collective.hpp>
#include <verifier/worker/worker_context.hpp>

/// What the lead and the other members of a group that computes each step together (GRP-11) do alike.
namespace assay::worker {

inline constexpr std::chrono::milliseconds kConnectTimeout{10'000};  ///< for the ranks to find each other
inline constexpr std::chrono::milliseconds kRankTimeout{60'000};     ///< how long a rank waits for a message

/// A rank's place in a session.
struct TogetherRank {
    contracts::TaskId task;
    std::string chain_id;
    std::vector<AccountId> accounts;  ///< of each rank
    std::uint32_t rank = 0;
    std::uint32_t size() const { return static_cast<std::uint32_t>(accounts.size()); }
};

/// A rank's connections in a session, and what its signatures have cost so far.
struct TogetherLinks {
    std::unique_ptr<engine::Collective> collective;
    std::shared_ptr<const group::StatementCost> cost;
};
/// Connects to the other ranks, account by account, and signs what is sent to them from then on. Waits for nobody once
/// `stop` is set; `while_waiting` is that of cell::TlsOptions. Throws std::runtime_error if not all ranks come, or one
/// is not who it should be.
TogetherLinks connect_together(
    WorkerContext& context, engine::SharedWords& words, const TogetherRank& rank, group::SegmentCheck check,
    const std::atomic<bool>& stop, std::function<bool(std::chrono::milliseconds)> while_waiting = {}
);

/// With which a rank executes its part of a session.
engine::EngineOptions engine_of(WorkerContext& context);

/// Whether ranks of several accounts can divide the program's steps so: each part of a sum is whole partials, for which
/// its rank can answer (STM-6). Who has to hand on the state that a segment begins with, as by ZeRO-3, compares it with
/// the checkpoint (STM-3).
bool can_state(const program::Program& program, const plan::Layout& layout);
/// The layout with that name for the most of `machines` whose members can answer for what they tell each other; nullopt
/// if there is none for two.
std::optional<plan::Layout> layout_together(
    const program::Program& program, const std::string& name, std::size_t machines
);

/// Reports a session that began, with its layout if that is known, and one that ended.
void report_session(WorkerContext& context, const TogetherRank& rank, const std::string& layout);
void report_served(
    WorkerContext& context, const TogetherRank& rank, const engine::Served& served, const group::StatementCost& cost
);

}  // namespace assay::worker
