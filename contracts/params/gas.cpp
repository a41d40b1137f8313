// SPDX-License-Identifier: Apache-2.0
#include <contracts/params/gas.hpp>

#include <algorithm>
#include <utility>
#include <variant>

#include <core/codec/borsh.hpp>
#include <contracts/state/validator.hpp>

namespace assay::contracts {
namespace {

// GAS-2
constexpr std::uint64_t kEnvelope = 95;
constexpr std::uint64_t kBytesPerGas = 128;
// GAS-3: beyond the slot that it lies in.
constexpr std::uint64_t kTask = 20;
constexpr std::uint64_t kVerdict = 3;
constexpr std::uint64_t kWatcher = 3;
constexpr std::uint64_t kProfile = 2;
constexpr std::uint64_t kMember = 1;  ///< of a committee
constexpr std::uint64_t kDispute = 50;
constexpr std::uint64_t kPosition = 80;  ///< a node of 1,024 inputs and 256 children
constexpr std::uint64_t kSeat = 1;       ///< of the beacon's record
constexpr std::uint64_t kStakeRead = 2;  ///< BCN-3, VAL-1: of each who holds a place, to find who gives way
constexpr std::uint64_t kEd25519 = 150;  ///< to verify a signature by a consensus key
// GAS-4
constexpr std::uint64_t kPartial = 60;
// FEE-2: a full block raises the base fee by an eighth.
constexpr std::uint64_t kBaseFeeSlowness = 8;

/// What an action costs beyond its envelope.
class Price {
  public:
    Price(const Params& params, std::size_t size_bytes)
        : verdicts_((std::uint64_t{params.segments_checked_max} + 1) * params.verifiers_per_segment_max),
          stored_(verdicts_ * (std::uint64_t{params.redraws_max} + 1)),
          verdict_(kVerdict + kWatcher * params.watchers_per_verdict),
          profiles_(params.profilers),
          members_(params.committee_seats),
          seats_(params.contributors_max),
          hashed_(size_bytes / kBytesPerGas) {}

    std::uint64_t operator()(const Transfer&) const { return slots(1); }
    std::uint64_t operator()(const Bond&) const { return slots(2); }
    std::uint64_t operator()(const Unbond&) const { return slots(3); }
    std::uint64_t operator()(const RegisterTerms&) const { return slots(1); }
    std::uint64_t operator()(const RegisterValidator&) const {
        return slots(6) + kEd25519 + kStakeRead * kMaxRegistered;
    }
    std::uint64_t operator()(const Unjail&) const { return slots(2); }

    std::uint64_t operator()(const SubmitTask&) const { return task(7) + profiling(); }
    std::uint64_t operator()(const AcceptTask&) const { return task(5); }
    std::uint64_t operator()(const PostCheckpoint&) const { return task(1); }
    std::uint64_t operator()(const CompleteTask&) const { return task(6) + task_end(); }
    std::uint64_t operator()(const DeclareDivergence&) const { return task(7) + task_end() + hashed_; }
    std::uint64_t operator()(const DeclineTask&) const { return task(7); }
    std::uint64_t operator()(const CancelTask&) const { return task(6 + profiles_); }

    std::uint64_t operator()(const CommitVerdict&) const { return task(5); }
    std::uint64_t operator()(const PublishVerdict&) const { return opening() + hashed_; }
    std::uint64_t operator()(const DiscloseVerdict&) const { return task_end(); }
    std::uint64_t operator()(const CommitProfile&) const { return task(3); }
    std::uint64_t operator()(const PublishProfile&) const { return task(4) + hashed_; }

    std::uint64_t operator()(const OpenDispute&) const { return opening(); }
    std::uint64_t operator()(const ChallengeVerdict&) const { return opening(); }
    std::uint64_t operator()(const ChallengeProfile&) const { return opening(); }
    std::uint64_t operator()(const RevealMove&) const { return move(); }
    std::uint64_t operator()(const SelectMove&) const { return move(); }
    std::uint64_t operator()(const ProveMove&) const { return move() + kPartial + task_end(); }

    /// AVL-6: the last that is needed pays the committee.
    std::uint64_t operator()(const AttestAvailability&) const { return task(2 * (2 + verdicts_) + members_) + hashed_; }

    std::uint64_t operator()(const JoinBeacon&) const { return seats(3) + kStakeRead * seats_; }
    std::uint64_t operator()(const Contribute&) const { return seats(1); }
    std::uint64_t operator()(const LeaveBeacon&) const { return seats(2); }

    /// GAS-10: the dearest is a conviction with a dispute open.
    std::uint64_t deadline() const { return task_end() + dispute() + moot(); }
    std::uint64_t draw(Queue queue, std::uint64_t candidates) const {
        const std::uint64_t places = queue == Queue::kSolver ? 1 : queue == Queue::kProfilers ? profiles_ : verdicts_;
        // BCN-10: who is drawn in the place of another is looked for among all. A committee takes less: it reads no
        // stake.
        const std::uint64_t looks = places + (queue == Queue::kVerifiers ? 1 : 0);  // VER-7: and where the draw fails
        return task(9 + 2 * places) + looks * kStakeRead * candidates;
    }

  private:
    static std::uint64_t slots(std::uint64_t count) { return count * kGasPerSlot; }
    std::uint64_t task(std::uint64_t others) const {
        return kTask + verdict_ * stored_ + kProfile * profiles_ + kMember * members_ + slots(others);
    }
    std::uint64_t seats(std::uint64_t others) const { return kSeat * seats_ + slots(others); }
    /// GAS-5: balance and stake of everybody who can have a bond in a task, or a payment from it.
    std::uint64_t task_end() const { return task(2 * (2 + verdicts_ + profiles_) + 1); }
    /// GAS-5: the end of its profiling.
    std::uint64_t profiling() const { return task(2 * (2 + profiles_) + 1); }
    /// GAS-5: what is open when its task ends: the bond returns.
    static std::uint64_t moot() { return slots(5); }
    std::uint64_t dispute() const { return kDispute + task(5); }
    std::uint64_t opening() const { return dispute() + kDispute + slots(1) + moot(); }
    std::uint64_t move() const { return dispute() + kPosition + hashed_; }

    const std::uint64_t verdicts_;  ///< that can be due at once
    const std::uint64_t stored_;    ///< AVL-7: with those that were drawn before them
    const std::uint64_t verdict_;
    const std::uint64_t profiles_;
    const std::uint64_t members_;
    const std::uint64_t seats_;
    const std::uint64_t hashed_;
};

std::uint64_t envelope(std::size_t size_bytes) { return kEnvelope + size_bytes / kBytesPerGas; }

/// An action of each kind.
template <std::size_t... kIndex>
std::uint64_t dearest_of(const Price& price, std::index_sequence<kIndex...> /*kinds*/) {
    return std::max({price(std::variant_alternative_t<kIndex, Action>{})...});
}

}  // namespace

std::uint64_t gas_of(const Tx& tx, std::size_t size_bytes, const Params& params) noexcept {
    return envelope(size_bytes) + std::visit(Price(params, size_bytes), tx.body.action);
}

std::uint64_t gas_of_undecodable(std::size_t size_bytes) noexcept { return envelope(size_bytes); }

std::uint64_t gas_of_bytes(ByteView tx_bytes, const Params& params) noexcept {
    if (tx_bytes.size() <= params.tx_size_max) {
        if (const auto tx = codec::decode<Tx>(tx_bytes)) {
            return gas_of(*tx, tx_bytes.size(), params);
        }
    }
    return gas_of_undecodable(tx_bytes.size());
}

std::uint64_t gas_max(const Params& params) noexcept {
    const Price price(params, params.tx_size_max);
    constexpr auto kKinds = std::make_index_sequence<std::variant_size_v<Action>>{};
    return envelope(params.tx_size_max) + dearest_of(price, kKinds);
}

std::uint64_t deadline_gas(const Params& params) noexcept { return Price(params, 0).deadline(); }

std::uint64_t pool_gas(std::size_t candidates) noexcept { return kStakeRead * candidates; }

std::uint64_t draw_gas(Queue queue, std::size_t candidates, const Params& params) noexcept {
    return Price(params, 0).draw(queue, candidates);
}

Amount fee_of(std::uint64_t gas, Amount base_fee) noexcept {
    // GAS-8, PAR-1: gas is below 2^32 and the base fee at most 2^30, so this cannot fail.
    return Amount{checked_mul(gas, base_fee.grains).value()};
}

Amount next_base_fee(Amount base_fee, std::uint64_t block_gas, const Params& params) noexcept {
    // FEE-2
    const std::uint64_t target = params.block_gas_max / 2;
    const std::uint64_t used = std::min<std::uint64_t>(block_gas, params.block_gas_max);
    const std::uint64_t distance = used > target ? used - target : target - used;
    const std::uint64_t part = base_fee.grains * distance / (kBaseFeeSlowness * target);
    const std::uint64_t change = distance == 0 ? 0 : std::max<std::uint64_t>(part, 1);
    const std::uint64_t moved =
        used > target ? base_fee.grains + change : base_fee.grains - std::min(base_fee.grains, change);
    return Amount{std::clamp(moved, params.gas_price_min.grains, kGasPriceMax.grains)};
}

}  // namespace assay::contracts
