// SPDX-License-Identifier: Apache-2.0
#include <verifier/roles/order.hpp>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <utility>

namespace assay::roles {
namespace {

std::uint64_t height_of(Height deadline) {
    return deadline.value == 0 ? std::numeric_limits<std::uint64_t>::max() : deadline.value;
}

Height deadline_of(const contracts::Task& task) { return task.deadline; }
Height deadline_of(const contracts::Dispute& dispute) { return dispute.deadline(); }

template <class T>
void sort(std::vector<T>& records) {
    std::sort(records.begin(), records.end(), [](const T& a, const T& b) {
        return std::pair(height_of(deadline_of(a)), a.id) < std::pair(height_of(deadline_of(b)), b.id);
    });
}

}  // namespace

std::vector<contracts::Task> by_deadline(const std::map<contracts::TaskId, contracts::Task>& tasks) {
    std::vector<contracts::Task> out;
    out.reserve(tasks.size());
    for (const auto& [id, task] : tasks) {
        out.push_back(task);
    }
    sort(out);
    return out;
}

std::vector<contracts::Dispute> by_deadline(std::vector<contracts::Dispute> disputes) {
    sort(disputes);
    return disputes;
}

bool gives_way(
    const contracts::DisputeId& playing, const std::vector<contracts::Dispute>& due, const std::set<Turn>& tried
) {
    const auto first = std::find_if(due.begin(), due.end(), [&](const contracts::Dispute& dispute) {
        return dispute.id == playing || !tried.contains({dispute.id, dispute.position.rounds});
    });
    return first == due.end() || first->id != playing;
}

bool is_long(const Intent& intent) noexcept {
    return std::holds_alternative<intent::Accept>(intent) || std::holds_alternative<intent::Train>(intent) ||
           std::holds_alternative<intent::Complete>(intent) || std::holds_alternative<intent::Replay>(intent) ||
           std::holds_alternative<intent::ReplayProbe>(intent) || std::holds_alternative<intent::TrainAhead>(intent) ||
           std::holds_alternative<intent::FetchCheckpoint>(intent);
}

}  // namespace assay::roles
