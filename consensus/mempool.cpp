// SPDX-License-Identifier: Apache-2.0
#include <consensus/mempool.hpp>

#include <algorithm>
#include <queue>
#include <utility>

#include <boost/unordered/unordered_flat_set.hpp>

#include <contracts/transaction/transaction.hpp>
#include <contracts/state/tx_error.hpp>

namespace assay::consensus {
namespace {

using contracts::TxError;

/// POOL-2: how many of the sender that pays least give way to one transaction: small ones to a large one.
constexpr std::size_t kVictimsMax = 16;

Unexpected<Refusal> reject(std::uint8_t code) {
    return Unexpected{Refusal{.reason = RefusalReason::kRejected, .code = code}};
}
Unexpected<Refusal> reject(TxError error) { return reject(static_cast<std::uint8_t>(error)); }
Unexpected<Refusal> refuse(RefusalReason reason) { return Unexpected{Refusal{.reason = reason, .code = 0}}; }

/// POOL-2: an eighth more.
bool outbids(std::uint64_t price, std::uint64_t other) { return price > other && price - other >= other / 8; }

/// POOL-1: whether `balance` covers both; what overflows no balance covers.
bool covers(Amount balance, std::uint64_t reserved, std::uint64_t more) {
    const auto sum = checked_add(reserved, more);
    return sum && *sum <= balance.grains;
}

/// What the state refuses for now only: the base fee may fall again (POOL-3).
bool may_wait(const CheckResult& check) {
    return check.code == 0 || check.code == static_cast<std::uint8_t>(TxError::kFeeTooLow);
}

}  // namespace

std::uint64_t Mempool::Queue::least_price() const {
    const auto less = [](const Waiting& a, const Waiting& b) { return a.price < b.price; };
    return std::min_element(waiting.begin(), waiting.end(), less)->price;
}

Result<Admitted, Refusal> Mempool::add(Bytes tx, CheckOrder order) {
    auto out = try_add(std::move(tx), order);
    const std::lock_guard lock(mutex_);
    if (out) {
        ++tally_.admitted;
    } else {
        ++tally_.refused[{out.error().reason, out.error().code}];
    }
    return out;
}

Mempool::Tally Mempool::tally() const {
    const std::lock_guard lock(mutex_);
    return tally_;
}

Result<Admitted, Refusal> Mempool::try_add(Bytes tx, CheckOrder order) {
    const Hash256 hash = contracts::tx_hash(tx);
    std::uint64_t generation = 0;
    {
        const std::lock_guard lock(mutex_);
        if (is_known(hash)) {
            return refuse(RefusalReason::kAlreadyKnown);
        }
        generation = generation_;
    }
    if (order == CheckOrder::kStateFirst) {
        const CheckResult check = state_.check(tx, hash, CheckKind::kRecheck);
        if (check.code != 0) {
            return reject(check.code);
        }
    }
    // Signatures are checked outside the lock, so that submissions do not wait for each other.
    CheckResult check = state_.check(tx, hash, CheckKind::kNew);
    if (check.code != 0) {
        return reject(check.code);
    }
    const std::lock_guard lock(mutex_);
    if (generation != generation_) {
        check = state_.check(tx, hash, CheckKind::kRecheck);
        if (check.code != 0) {
            return reject(check.code);
        }
    }
    if (is_known(hash)) {
        return refuse(RefusalReason::kAlreadyKnown);
    }
    Waiting waiting{
        .bytes = std::make_shared<const Bytes>(std::move(tx)),
        .hash = hash,
        .price = check.fee.grains / std::max<std::uint64_t>(check.gas, 1),
        .reserve = check.reserve.grains,
        .arrival = arrivals_,
        .since = generation_};
    Admitted out{.hash = hash, .gas = check.gas, .sender = check.sender, .nonce = check.nonce, .bytes = waiting.bytes};
    TRY(check.duty ? admit_answer(*check.duty, std::move(waiting)) : admit(check, std::move(waiting)));
    ++arrivals_;
    return out;
}

Result<void, Refusal> Mempool::admit_answer(const contracts::Duty& duty, Waiting waiting) {
    // POOL-4
    const bool replaces = answers_.answers(duty);
    const bool is_full = replaces ? turnover_ >= limits_.turnover_max : answers_.count() >= limits_.txs_max;
    if (is_full || answers_.bytes() + waiting.bytes->size() > limits_.bytes_max) {
        return refuse(RefusalReason::kFull);
    }
    turnover_ += replaces ? 1 : 0;
    answers_.add({.duty = duty, .bytes = std::move(waiting.bytes), .hash = waiting.hash});
    return {};
}

Result<void, Refusal> Mempool::admit(const CheckResult& check, Waiting waiting) {
    const auto known = senders_.find(check.sender);
    const std::uint64_t first = known == senders_.end() ? check.state_nonce : known->second.first_nonce;
    const std::uint64_t next = known == senders_.end() ? check.state_nonce : known->second.next_nonce();
    if (check.nonce < first) {
        return reject(TxError::kNonceTooLow);
    }
    if (check.nonce > next) {
        return reject(TxError::kNonceTooHigh);
    }
    // POOL-1
    std::uint64_t reserved = 0;
    for (std::uint64_t nonce = first; nonce < next; ++nonce) {
        // A block that update() has not heard of yet has taken what is below the state's nonce from the balance.
        const bool counts = nonce >= check.state_nonce && nonce != check.nonce;
        reserved += counts ? known->second.waiting[nonce - first].reserve : 0;
    }
    if (!covers(check.balance, reserved, waiting.reserve)) {
        return reject(TxError::kInsufficientBalance);
    }
    if (check.nonce < next) {
        return replace(check, known->second, std::move(waiting));
    }
    if (next - first >= limits_.sender_txs_max || !make_room(check.sender, waiting)) {
        return refuse(RefusalReason::kFull);
    }
    bytes_ += waiting.bytes->size();
    hashes_.emplace(waiting.hash, waiting.bytes);
    Queue& queue = senders_[check.sender];
    queue.first_nonce = first;
    queue.waiting.push_back(std::move(waiting));
    return {};
}

Result<void, Refusal> Mempool::replace(const CheckResult& check, Queue& queue, Waiting waiting) {
    // POOL-2
    Waiting& old = queue.waiting[check.nonce - queue.first_nonce];
    if (!outbids(waiting.price, old.price)) {
        return reject(TxError::kNonceTooLow);
    }
    const bool fits = bytes_ - old.bytes->size() + waiting.bytes->size() <= limits_.bytes_max;
    if (!fits || turnover_ >= limits_.turnover_max) {
        return refuse(RefusalReason::kFull);
    }
    ++turnover_;
    forget(old);
    bytes_ += waiting.bytes->size();
    hashes_.emplace(waiting.hash, waiting.bytes);
    old = std::move(waiting);
    return {};
}

bool Mempool::is_full(std::uint64_t more_bytes) const {
    return hashes_.size() >= limits_.txs_max || bytes_ + more_bytes > limits_.bytes_max;
}

/// POOL-2: evicts the last transactions of the sender that pays least, where `waiting` pays more. False: there is no
/// room.
bool Mempool::make_room(const AccountId& sender, const Waiting& waiting) {
    if (!is_full(waiting.bytes->size())) {
        return true;
    }
    // A transaction is worth no more than the cheapest that has to be executed before it.
    const auto own = senders_.find(sender);
    const std::uint64_t price =
        own == senders_.end() ? waiting.price : std::min(waiting.price, own->second.least_price());
    auto cheapest = senders_.end();
    for (auto it = senders_.begin(); it != senders_.end(); ++it) {
        if (it->first != sender &&
            (cheapest == senders_.end() || it->second.least_price() < cheapest->second.least_price())) {
            cheapest = it;
        }
    }
    if (cheapest == senders_.end() || !outbids(price, cheapest->second.least_price())) {
        return false;
    }
    const std::deque<Waiting>& queue = cheapest->second.waiting;
    const std::size_t most = std::min(queue.size(), kVictimsMax);
    std::size_t victims = 0;
    std::uint64_t freed = 0;
    const auto is_enough = [&] {
        return victims > 0 && hashes_.size() - victims < limits_.txs_max &&
               bytes_ - freed + waiting.bytes->size() <= limits_.bytes_max;
    };
    while (victims < most && !is_enough()) {
        ++victims;
        freed += queue[queue.size() - victims].bytes->size();
    }
    if (!is_enough() || turnover_ + victims > limits_.turnover_max) {
        return false;
    }
    turnover_ += victims;
    drop_from(cheapest->second, queue.size() - victims);
    if (queue.empty()) {
        senders_.erase(cheapest);
    }
    return true;
}

std::vector<Bytes> Mempool::candidates(std::uint64_t bytes_max) const {
    struct Head {
        const Queue* queue;
        std::size_t index;
        const Waiting& get() const { return queue->waiting[index]; }
        bool operator<(const Head& other) const {
            const Waiting& a = get();
            const Waiting& b = other.get();
            return a.price != b.price ? a.price < b.price : a.arrival > b.arrival;
        }
    };
    const std::lock_guard lock(mutex_);
    std::vector<Bytes> out;
    std::uint64_t answer_bytes = 0;
    for (const AnswerPool::Answer& answer : answers_.list()) {
        answer_bytes += answer.bytes->size();
        if (answer_bytes > bytes_max) {
            break;
        }
        out.push_back(*answer.bytes);
    }
    std::uint64_t bytes = 0;
    std::priority_queue<Head> heads;
    for (const auto& [sender, queue] : senders_) {
        heads.push({&queue, 0});
    }
    while (!heads.empty()) {
        const Head head = heads.top();
        heads.pop();
        bytes += head.get().bytes->size();
        if (bytes > bytes_max) {
            break;
        }
        out.push_back(*head.get().bytes);
        if (head.index + 1 < head.queue->waiting.size()) {
            heads.push({head.queue, head.index + 1});
        }
    }
    return out;
}

void Mempool::update(const std::vector<Bytes>& block_txs) {
    std::vector<First> firsts;
    {
        const std::lock_guard lock(mutex_);
        ++generation_;
        turnover_ = 0;
        firsts = drop_block(block_txs);
    }
    // Submissions go on meanwhile.
    std::vector<CheckResult> checks;
    checks.reserve(firsts.size());
    for (const First& first : firsts) {
        checks.push_back(state_.check(*first.bytes, first.hash, CheckKind::kRecheck));
    }
    {
        const std::lock_guard lock(mutex_);
        for (std::size_t i = 0; i < firsts.size(); ++i) {
            settle(firsts[i], checks[i]);
        }
    }
    update_answers(block_txs);
}

/// POOL-4: what the block had goes, and what nobody owes any more.
void Mempool::update_answers(const std::vector<Bytes>& block_txs) {
    std::vector<AnswerPool::Answer> answers;
    {
        const std::lock_guard lock(mutex_);
        for (const Bytes& tx : answers_.count() == 0 ? std::vector<Bytes>{} : block_txs) {
            answers_.drop(contracts::tx_hash(tx));
        }
        answers = answers_.list();
    }
    std::erase_if(answers, [&](const AnswerPool::Answer& answer) {
        const CheckResult check = state_.check(*answer.bytes, answer.hash, CheckKind::kRecheck);
        return check.code == 0 && check.duty == answer.duty;
    });
    const std::lock_guard lock(mutex_);
    for (const AnswerPool::Answer& answer : answers) {
        answers_.drop(answer.hash);
    }
}

/// Drops what the block had. Returns the first of each sender that is left.
std::vector<Mempool::First> Mempool::drop_block(const std::vector<Bytes>& block_txs) {
    boost::unordered_flat_set<Hash256, SeededHash> in_block;
    for (const Bytes& tx : block_txs) {
        in_block.insert(contracts::tx_hash(tx));
    }
    std::vector<First> firsts;
    for (auto it = senders_.begin(); it != senders_.end();) {
        Queue& queue = it->second;
        while (!queue.waiting.empty() && in_block.contains(queue.waiting.front().hash)) {
            forget(queue.waiting.front());
            queue.waiting.pop_front();
            ++queue.first_nonce;
        }
        if (queue.waiting.empty()) {
            it = senders_.erase(it);
            continue;
        }
        const Waiting& front = queue.waiting.front();
        firsts.push_back({.sender = it->first, .bytes = front.bytes, .hash = front.hash});
        ++it;
    }
    return firsts;
}

/// Brings a sender's queue up to the new state; `check` is what it says of `first`.
void Mempool::settle(const First& first, CheckResult check) {
    const auto found = senders_.find(first.sender);
    if (found == senders_.end() || found->second.waiting.front().hash != first.hash) {
        return;  // evicted or replaced meanwhile, by what was checked against the new state
    }
    Queue& queue = found->second;
    bool is_replaced = false;
    while (!queue.waiting.empty() && queue.first_nonce < check.state_nonce) {
        forget(queue.waiting.front());  // another transaction had this nonce
        queue.waiting.pop_front();
        ++queue.first_nonce;
        is_replaced = true;
    }
    if (is_replaced && !queue.waiting.empty()) {
        const Waiting& front = queue.waiting.front();
        check = state_.check(*front.bytes, front.hash, CheckKind::kRecheck);
    }
    std::size_t kept = 0;
    if (!queue.waiting.empty() && queue.first_nonce == check.state_nonce && may_wait(check)) {
        std::uint64_t reserved = 0;
        for (; kept < queue.waiting.size(); ++kept) {
            const Waiting& waiting = queue.waiting[kept];
            if (generation_ - waiting.since > limits_.blocks_max || !covers(check.balance, reserved, waiting.reserve)) {
                break;  // POOL-1, POOL-3
            }
            reserved += waiting.reserve;
        }
    }
    drop_from(queue, kept);
    if (queue.waiting.empty()) {
        senders_.erase(found);
    }
}

void Mempool::drop_from(Queue& queue, std::size_t index) {
    while (queue.waiting.size() > index) {
        forget(queue.waiting.back());
        queue.waiting.pop_back();
    }
}

void Mempool::forget(const Waiting& waiting) {
    bytes_ -= waiting.bytes->size();
    hashes_.erase(waiting.hash);
}

Mempool::Size Mempool::size() const {
    const std::lock_guard lock(mutex_);
    return {.txs = hashes_.size() + answers_.count(), .bytes = bytes_ + answers_.bytes()};
}

std::shared_ptr<const Bytes> Mempool::find(const Hash256& tx) const {
    const std::lock_guard lock(mutex_);
    const auto found = hashes_.find(tx);
    return found == hashes_.end() ? answers_.find(tx) : found->second;
}

std::optional<std::uint64_t> Mempool::next_nonce(const AccountId& sender) const {
    const std::lock_guard lock(mutex_);
    const auto queue = senders_.find(sender);
    return queue == senders_.end() ? std::nullopt : std::optional(queue->second.next_nonce());
}

}  // namespace assay::consensus
