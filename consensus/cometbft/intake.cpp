// SPDX-License-Identifier: Apache-2.0
#include <consensus/cometbft/intake.hpp>

#include <algorithm>
#include <utility>

#include <consensus/cometbft/bundle.hpp>
#include <contracts/state/tx_error.hpp>
#include <contracts/transaction/transaction.hpp>

namespace assay::cometbft {
namespace {

using consensus::RefusalReason;
using contracts::TxError;

/// As many as CometBFT's own cache holds.
constexpr std::size_t kRecentMax = 10'000;

bool is_error(const consensus::Refusal& refusal, TxError error) {
    return refusal.reason == RefusalReason::kRejected && refusal.code == static_cast<std::uint8_t>(error);
}

/// TX-1 to TX-3: what no node takes in any state.
bool is_malformed(const consensus::Refusal& refusal) {
    return is_error(refusal, TxError::kUndecodable) || is_error(refusal, TxError::kTooLarge) ||
           is_error(refusal, TxError::kWrongChain) || is_error(refusal, TxError::kBadSignature);
}

const char* text_of(std::uint8_t code) { return contracts::to_string(static_cast<TxError>(code)); }

Intake::Verdict refuse(std::uint32_t code, const char* why) { return {.code = code, .why = why}; }

Intake::Verdict refuse(const consensus::Refusal& refusal) {
    switch (refusal.reason) {
        case RefusalReason::kRejected:
            return refuse(refusal.code, text_of(refusal.code));
        case RefusalReason::kAlreadyKnown:
            return refuse(kWaitsAlready, "it waits already");
        case RefusalReason::kFull:
        case RefusalReason::kStopping:
        case RefusalReason::kUnreachable:  // which a mempool of this process never is
        case RefusalReason::kReadOnly:
            break;
    }
    return refuse(kMempoolFull, "the mempool is full");
}

}  // namespace

Intake::Verdict Intake::check_new(ByteView entry) {
    return is_bundle(entry) ? check_bundle(entry) : check_new_tx(entry);
}

Intake::Verdict Intake::check_new_tx(ByteView tx) {
    // CMT-4
    const Hash256 hash = contracts::tx_hash(tx);
    if (outbox_.is_own(hash) && mempool_.contains(hash)) {
        return {};
    }
    const auto admitted = mempool_.add(Bytes(tx.begin(), tx.end()));
    if (!admitted) {
        return refuse(admitted.error());
    }
    follow(admitted->sender, admitted->nonce + 1);
    return {.gas = admitted->gas};
}

Intake::Verdict Intake::check_bundle(ByteView bundle) {
    // CMT-17
    if (outbox_.is_own(contracts::tx_hash(bundle))) {
        return {};
    }
    auto parts = decode_bundle(bundle);
    if (!parts) {
        const auto code = static_cast<std::uint8_t>(TxError::kUndecodable);
        return refuse(code, text_of(code));
    }
    Outcome outcome;
    for (Bytes& part : *parts) {
        add_part(std::move(part), outcome);
        if (outcome.malformed) {
            break;
        }
    }
    const bool is_passed_on = !outcome.malformed && outcome.admitted_bytes >= bundle.size() / 2;
    for (const consensus::Admitted& tx : outcome.admitted) {
        if (!is_passed_on) {
            outbox_.push(tx);
        }
        follow(tx.sender, tx.nonce + 1);
    }
    if (outcome.malformed) {
        return refuse(*outcome.malformed, text_of(*outcome.malformed));
    }
    return is_passed_on ? Verdict{} : refuse(kMostlyStale, "little of the bundle is new here");
}

void Intake::add_part(Bytes part, Outcome& outcome) {
    const Hash256 hash = contracts::tx_hash(part);
    if (is_in_recent_block(hash) || mempool_.contains(hash)) {
        return;
    }
    auto admitted = mempool_.add(part, consensus::CheckOrder::kStateFirst);
    if (admitted) {
        outcome.admitted_bytes += part.size() + kPartHeadBytes;
        outcome.admitted.push_back(*std::move(admitted));
    } else if (is_malformed(admitted.error())) {
        outcome.malformed = admitted.error().code;
    } else if (is_error(admitted.error(), TxError::kNonceTooHigh)) {
        hold(hash, std::move(part));
    }
}

void Intake::hold(const Hash256& hash, Bytes part) {
    const auto check = state_.check(part, hash, consensus::CheckKind::kRecheck);
    if (check.code == 0 && !check.duty) {
        const std::lock_guard lock(mutex_);
        gaps_.hold(check.sender, check.nonce, std::move(part));
    }
}

void Intake::follow(const AccountId& sender, std::uint64_t nonce) {
    for (;; ++nonce) {
        std::optional<Bytes> next;
        {
            const std::lock_guard lock(mutex_);
            next = gaps_.take(sender, nonce);
        }
        if (!next) {
            return;
        }
        const auto admitted = mempool_.add(*std::move(next));
        if (!admitted) {
            return;
        }
        outbox_.push(*admitted);
    }
}

Intake::Verdict Intake::check_again(ByteView entry) {
    if (!is_bundle(entry)) {
        return mempool_.contains(contracts::tx_hash(entry)) ? Verdict{} : refuse(kDropped, "no longer in the mempool");
    }
    // CMT-17
    const auto parts = decode_bundle(entry);
    if (!parts) {
        return refuse(kDropped, "no bundle");
    }
    std::size_t waiting_bytes = 0;
    std::vector<consensus::Admitted> waiting;
    for (const Bytes& part : *parts) {
        const Hash256 hash = contracts::tx_hash(part);
        if (auto bytes = mempool_.find(hash)) {
            waiting_bytes += part.size() + kPartHeadBytes;
            waiting.push_back({.hash = hash, .bytes = std::move(bytes)});
        }
    }
    if (waiting_bytes >= entry.size() / 2) {
        return {};
    }
    for (const consensus::Admitted& tx : waiting) {
        outbox_.push(tx);
    }
    return refuse(kDropped, "little of the bundle is in the mempool");
}

Result<consensus::Admitted, consensus::Refusal> Intake::submit(Bytes tx) {
    // CMT-18
    TRY_ASSIGN(consensus::Admitted admitted, mempool_.add(std::move(tx)));
    outbox_.push(admitted);
    follow(admitted.sender, admitted.nonce + 1);
    return admitted;
}

void Intake::note_block(const std::vector<Hash256>& txs) {
    std::vector<GapRoom::First> firsts;
    {
        const std::lock_guard lock(mutex_);
        if (recent_.size() + txs.size() > kRecentMax) {
            older_ = std::exchange(recent_, {});
        }
        recent_.insert(txs.begin(), txs.end());
        gaps_.note_block();
        firsts = gaps_.firsts();
    }
    for (const GapRoom::First& first : firsts) {
        const auto check = state_.check(first.tx, contracts::tx_hash(first.tx), consensus::CheckKind::kRecheck);
        const std::uint64_t next = mempool_.next_nonce(first.sender).value_or(check.state_nonce);
        if (first.nonce == next) {
            follow(first.sender, next);
        } else if (first.nonce < next) {
            const std::lock_guard lock(mutex_);
            gaps_.take(first.sender, first.nonce);
        }
    }
}

bool Intake::is_in_recent_block(const Hash256& tx) const {
    const std::lock_guard lock(mutex_);
    return recent_.contains(tx) || older_.contains(tx);
}

}  // namespace assay::cometbft
