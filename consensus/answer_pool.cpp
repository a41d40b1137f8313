// SPDX-License-Identifier: Apache-2.0
#include <consensus/answer_pool.hpp>

#include <utility>

namespace assay::consensus {

void AnswerPool::add(Answer answer) {
    const auto [known, is_new] = by_duty_.emplace(answer.duty, arrivals_);
    const Arrival arrival = known->second;
    if (is_new) {
        ++arrivals_;
    } else {
        const Answer& old = waiting_.at(arrival);
        bytes_ -= old.bytes->size();
        by_hash_.erase(old.hash);
    }
    bytes_ += answer.bytes->size();
    by_hash_.emplace(answer.hash, arrival);
    waiting_.insert_or_assign(arrival, std::move(answer));
}

std::shared_ptr<const Bytes> AnswerPool::find(const Hash256& hash) const {
    const auto known = by_hash_.find(hash);
    return known == by_hash_.end() ? nullptr : waiting_.at(known->second).bytes;
}

std::vector<AnswerPool::Answer> AnswerPool::list() const {
    std::vector<Answer> out;
    out.reserve(waiting_.size());
    for (const auto& [arrival, answer] : waiting_) {
        out.push_back(answer);
    }
    return out;
}

void AnswerPool::drop(const Hash256& hash) {
    const auto known = by_hash_.find(hash);
    if (known == by_hash_.end()) {
        return;
    }
    const auto waiting = waiting_.find(known->second);
    bytes_ -= waiting->second.bytes->size();
    by_duty_.erase(waiting->second.duty);
    waiting_.erase(waiting);
    by_hash_.erase(known);
}

}  // namespace assay::consensus
