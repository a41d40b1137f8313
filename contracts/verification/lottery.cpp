// SPDX-License-Identifier: Apache-2.0
#include <contracts/verification/lottery.hpp>


#include <algorithm>

#include <core/codec/borsh.hpp>
#include <core/crypto/hash.hpp>
#include <contracts/tasks/draw.hpp>

namespace assay::contracts {
namespace {

constexpr std::uint64_t kBasisPoints = 10'000;

struct Ticket {
    Hash256 lottery;
    Hash256 salt;
    TaskId task;
    std::uint32_t segment = 0;
    AccountId verifier;
    static constexpr auto fields() {
        return Fields<&Ticket::lottery, &Ticket::salt, &Ticket::task, &Ticket::segment, &Ticket::verifier>{};
    }
};

}  // namespace

bool is_forced(
    const Task& task, const Assignment& assignment, const VerdictOpening& opening, std::uint32_t forced_error_bps
) noexcept {
    static const crypto::TaggedHash kTag("assay/forced");  // VER-11
    const Ticket ticket{task.lottery, opening.salt, task.id, assignment.segment, assignment.verifier};
    return opening.verdict.probe_root && reduce(kTag(codec::encode(ticket)), kBasisPoints) < forced_error_bps;
}

Verdict published_verdict(const VerdictOpening& opening, bool forced) noexcept {
    Verdict published = opening.verdict;
    if (forced) {
        published.probe_root = opening.decoy_root;
    }
    return published;
}

bool is_watcher(const Assignment& assignment, const AccountId& account) noexcept {
    return std::find(assignment.watchers.begin(), assignment.watchers.end(), account) != assignment.watchers.end();
}

}  // namespace assay::contracts
