// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <optional>
#include <string>

#include <verifier/roles/idle.hpp>
#include <verifier/worker/role.hpp>
#include <verifier/worker/worker_context.hpp>

namespace assay::worker {

/// Returns the reason in words, with the command that ends it where there is one. `role` names the worker's stake.
std::string explain_idle(const roles::Idleness& idleness, const roles::IdleView& view);

/// Says why a worker does nothing: once for each reason, when it has done nothing for a while.
class IdleWatch {
  public:
    explicit IdleWatch(WorkerContext& context) : context_(context) {}

    /// The worker has done something.
    void note_busy();
    /// The node could not be asked; `why` says so in words.
    void note_no_node(const std::string& why);
    /// There is nothing to do now. Asks the node and the role for the reason, at most once in kPatience, and says it if
    /// it is another than the last that was said. Throws http::NetError or client::RpcError.
    void note_idle(const Role& role);

    /// How long a worker does nothing before it looks for the reason.
    static constexpr std::chrono::seconds kPatience{3};

  private:
    roles::IdleView view_of(const Role& role);

    WorkerContext& context_;
    std::optional<std::chrono::steady_clock::time_point> idle_since_{};
    std::optional<std::chrono::steady_clock::time_point> looked_at_{};
    std::uint64_t height_then_ = 0;  ///< at the last look
    std::optional<roles::Idleness> said_{};
};

/// Returns whether the node follows its chain, from two looks at it half a second or more apart.
roles::NodeState look_at_node(Chain& chain);

}  // namespace assay::worker
