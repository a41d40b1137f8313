// SPDX-License-Identifier: Apache-2.0
#include <node/rpc/work.hpp>

#include <string>
#include <utility>

#include <node/rpc/jsonrpc.hpp>

namespace assay::rpc {

Work::Work(std::function<bool()> is_over, Admission admission)
    : is_over_(std::move(is_over)),
      admission_(std::move(admission)),
      until_(std::chrono::steady_clock::now() + kTimeMax) {}

void Work::begin_call(const std::string& method) const {
    if (admission_) {
        admission_(method);
    }
}

void Work::charge(std::uint64_t units) {
    if (is_over_ && is_over_()) {
        throw Fault(kLimitExceeded, "the client is gone");
    }
    if (used_ >= kUnitsMax) {
        throw Fault(
            kLimitExceeded,
            "the request costs more than " + std::to_string(kUnitsMax) + " units of work, its whole batch counted",
            {{"hint", "ask for less in one request: fewer calls, or a smaller limit"}}
        );
    }
    if (std::chrono::steady_clock::now() >= until_) {
        throw Fault(
            kLimitExceeded,
            "the request takes longer than " + std::to_string(kTimeMax.count()) + " ms, its whole batch counted",
            {{"hint", "ask for less in one request, or later: the node may be busy"}}
        );
    }
    used_ += units;
}

void Work::wait(Wait wait) {
    if (!may_wait_) {
        throw Fault(kInvalidRequest, "chain_wait cannot be in a batch", {{"hint", "send it as a request of its own"}});
    }
    wait_ = std::move(wait);
}

void Work::name_waiting(nlohmann::json id) { wait_.value().id = std::move(id); }

}  // namespace assay::rpc
