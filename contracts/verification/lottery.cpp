// SPDX-License-Identifier: Apache-2.0
#include <contracts/verification/lottery.hpp>

#include <algorithm>
#include <set>

#include <core/codec/borsh.hpp>
#include <core/crypto/hash.hpp>
#include <contracts/beacon/draw.hpp>

namespace assay::contracts {
namespace {

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
    return !opening.marks.empty() && reduce(kTag(codec::encode(ticket)), kBasisPoints) < forced_error_bps;
}

std::vector<std::uint32_t> marks_of(const Task& task, const Assignment& assignment) {
    // VER-9
    const std::uint64_t steps = step_count(task, assignment.segment);
    if (assignment.segment == 0 || steps < 2) {
        return {};
    }
    std::set<std::uint32_t> marks{static_cast<std::uint32_t>(steps - 1)};
    for (std::uint64_t part = 0; part < kMarkedParts; ++part) {
        const std::uint64_t mark = part * steps / kMarkedParts + assignment.offset;
        if (mark >= 1 && mark < steps) {
            marks.insert(static_cast<std::uint32_t>(mark));
        }
    }
    return {marks.begin(), marks.end()};
}

Verdict published_verdict(const Task& task, const Assignment& assignment, const VerdictOpening& opening, bool forced) {
    Verdict published = opening.verdict;
    published.probe_root.reset();
    const std::vector<std::uint32_t> marks = marks_of(task, assignment);
    const auto place = std::find(marks.begin(), marks.end(), assignment.probe);
    if (place != marks.end() && opening.marks.size() == marks.size()) {
        published.probe_root =
            forced ? opening.decoy_root : opening.marks[static_cast<std::size_t>(place - marks.begin())];
    }
    return published;
}

bool is_watcher(const Assignment& assignment, const AccountId& account) noexcept {
    return std::find(assignment.watchers.begin(), assignment.watchers.end(), account) != assignment.watchers.end();
}

}  // namespace assay::contracts
