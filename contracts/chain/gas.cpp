// SPDX-License-Identifier: Apache-2.0
#include <contracts/chain/gas.hpp>

#include <algorithm>
#include <utility>
#include <variant>

#include <core/codec/borsh.hpp>

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
constexpr std::uint64_t kDispute = 50;
constexpr std::uint64_t kPosition = 80;  ///< a node of 1,024 inputs and 256 children
constexpr std::uint64_t kSeat = 1;       ///< of the beacon's record
constexpr std::uint64_t kStakeRead = 2;  ///< BCN-3: of each contributor, to find who gives way
// GAS-4
constexpr std::uint64_t kPartial = 60;

/// What an action costs beyond its envelope.
class Price {
  public:
    Price(const Params& params, std::size_t size_bytes)
        : verdicts_((std::uint64_t{params.segments_checked_max} + 1) * params.verifiers_per_segment_max),
          verdict_(kVerdict + kWatcher * params.watchers_per_verdict),
          profiles_(params.profilers),
          seats_(params.contributors_max),
          hashed_(size_bytes / kBytesPerGas) {}

    std::uint64_t operator()(const Transfer&) const { return slots(1); }
    std::uint64_t operator()(const Bond&) const { return slots(2); }
    std::uint64_t operator()(const Unbond&) const { return slots(3); }
    std::uint64_t operator()(const RegisterHardware&) const { return slots(1); }
    std::uint64_t operator()(const RegisterValidator&) const { return slots(4); }
    std::uint64_t operator()(const Unjail&) const { return slots(2); }

    std::uint64_t operator()(const SubmitTask&) const { return task(7) + 3 * profiling(); }
    std::uint64_t operator()(const AcceptTask&) const { return task(5); }
    std::uint64_t operator()(const PostCheckpoint&) const { return task(1); }
    std::uint64_t operator()(const CompleteTask&) const { return task(5) + 2 * task_end(); }
    std::uint64_t operator()(const DeclareDivergence&) const { return task(6) + 2 * task_end() + hashed_; }
    std::uint64_t operator()(const CancelTask&) const { return task(5 + profiles_); }

    std::uint64_t operator()(const CommitVerdict&) const { return task(5); }
    std::uint64_t operator()(const PublishVerdict&) const { return opening(); }
    std::uint64_t operator()(const DiscloseVerdict&) const { return task_end(); }
    std::uint64_t operator()(const CommitProfile&) const { return task(3); }
    std::uint64_t operator()(const PublishProfile&) const { return task(4) + hashed_; }

    std::uint64_t operator()(const OpenDispute&) const { return opening(); }
    std::uint64_t operator()(const ChallengeVerdict&) const { return opening(); }
    std::uint64_t operator()(const ChallengeProfile&) const { return opening(); }
    std::uint64_t operator()(const RevealMove&) const { return move(); }
    std::uint64_t operator()(const SelectMove&) const { return move(); }
    std::uint64_t operator()(const ProveMove&) const { return move() + kPartial + task_end(); }

    std::uint64_t operator()(const ChallengeAvailability&) const { return task(5) + moot(); }
    std::uint64_t operator()(const ServeChunk&) const { return task(6) + hashed_; }

    std::uint64_t operator()(const JoinBeacon&) const { return seats(3) + kStakeRead * seats_; }
    std::uint64_t operator()(const Contribute&) const { return seats(1); }
    std::uint64_t operator()(const LeaveBeacon&) const { return seats(2); }

  private:
    static std::uint64_t slots(std::uint64_t count) { return count * kGasPerSlot; }
    std::uint64_t task(std::uint64_t others) const {
        return kTask + verdict_ * verdicts_ + kProfile * profiles_ + slots(others);
    }
    std::uint64_t seats(std::uint64_t others) const { return kSeat * seats_ + slots(others); }
    /// GAS-5: balance and stake of everybody who can have a bond in a task, or a payment from it.
    std::uint64_t task_end() const { return task(2 * (2 + verdicts_ + profiles_)); }
    /// GAS-5: its beginning and its end, and the draw of the solver after it.
    std::uint64_t profiling() const { return task(2 * (2 + profiles_)); }
    /// GAS-5: what is open when its task ends: the bond returns.
    static std::uint64_t moot() { return slots(4); }
    std::uint64_t dispute() const { return kDispute + task(5); }
    std::uint64_t opening() const { return dispute() + kDispute + moot(); }
    std::uint64_t move() const { return dispute() + kPosition + hashed_; }

    const std::uint64_t verdicts_;
    const std::uint64_t verdict_;
    const std::uint64_t profiles_;
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

void BlockUse::add(ByteView tx_bytes, const Params& params) noexcept {
    bytes_ += tx_bytes.size();
    gas_ += gas_of_bytes(tx_bytes, params);
}

}  // namespace assay::contracts
