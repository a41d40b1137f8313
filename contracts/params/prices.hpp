// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include <contracts/state/params.hpp>
#include <contracts/state/privacy.hpp>
#include <core/sealed/share.hpp>
#include <contracts/state/slots.hpp>
#include <contracts/state/validator.hpp>

/// The prices that actions add up to their gas (GAS-3 to GAS-5).
namespace assay::contracts {

/// GAS-3: gas per changed slot of the state.
inline constexpr std::uint64_t kGasPerSlot = 12;
/// GAS-2: bytes that are read, checked and hashed for one gas.
inline constexpr std::uint64_t kBytesPerGas = 128;

/// What the parts of an action cost, beyond its envelope. Depends on the parameters and the size of the transaction.
class Prices {
  public:
    Prices(const Params& params, std::size_t size_bytes)
        : verdicts_((std::uint64_t{params.segments_checked_max} + 1) * params.verifiers_per_segment_max),
          stored_(verdicts_ * (std::uint64_t{params.redraws_max} + 1)),
          verdict_(kVerdict + kWatcher * params.watchers_per_verdict),
          profiles_(params.profilers),
          members_(params.committee_seats),
          segments_(params.segments_checked_max),
          seats_(params.contributors_max),
          hashed_(size_bytes / kBytesPerGas) {}

    static std::uint64_t slots(std::uint64_t count) { return count * kGasPerSlot; }
    /// Reads and writes a task, and `others` further slots.
    std::uint64_t task(std::uint64_t others) const {
        return kTask + verdict_ * stored_ + kProfile * profiles_ + kMember * members_ + attesters() + slots(others);
    }
    /// GAS-5: balance and stake of everybody who can have a bond in a task, or a payment from it.
    std::uint64_t task_end() const { return task(2 * (2 + verdicts_ + profiles_) + 1); }
    /// GRP-2: signatures and stakes of so many partners of a group, and what the task's end changes for them.
    static std::uint64_t partners(std::uint64_t count) { return count * (kSignature + slots(4)); }
    /// STM-2: signatures of so many statements, and the hashes of their evidence.
    std::uint64_t statements(std::uint64_t count) const { return count * kSignature + 2 * hashed_; }
    /// PRV-3: as many pairs of shares as the transaction has room for, or may have: their points and signatures.
    std::uint64_t shares() const {
        const std::uint64_t room = hashed_ * kBytesPerGas / (2 * sealed::kShareBytes) + 1;
        return std::min<std::uint64_t>(room, kMaxShares) * 2 * (kPoint + kSignature);
    }
    /// PRV-5, PRV-7: a proof of equal discrete logarithms, and the points that it is about.
    static std::uint64_t proof() { return 6 * kSignature; }
    /// GAS-5: the end of a task's profiling.
    std::uint64_t profiling() const { return task(2 * (2 + profiles_) + 1); }
    /// Number of profiles of a task.
    std::uint64_t profiles() const { return profiles_; }
    /// A committee's attestation; the last one pays the committee (AVL-6).
    std::uint64_t attestation() const { return task(2 * (2 + verdicts_) + members_); }
    /// Opens a dispute.
    std::uint64_t opening() const { return dispute() + kDispute + slots(1) + moot(); }
    /// A move in a dispute.
    std::uint64_t move() const { return dispute() + kPosition + hashed_; }
    /// GAS-4: executes a partial.
    static std::uint64_t partial() { return kPartial; }
    /// The beacon's record, and `others` further slots.
    std::uint64_t seats(std::uint64_t others) const { return kSeat * seats_ + slots(others); }
    /// BCN-3: reads the stake of each contributor.
    std::uint64_t seat_reads() const { return kStakeRead * seats_; }
    /// VAL-1: registers a consensus key.
    static std::uint64_t registration() { return slots(6) + kEd25519 + kStakeRead * kMaxRegistered; }
    /// GOV-1, GOV-6: a proposal with its list, and the powers of all validators.
    static std::uint64_t ballot() { return slots(5) + kStakeRead * kMaxRegistered; }
    /// Hashes the transaction's bytes once more.
    std::uint64_t hashed() const { return hashed_; }

    /// GAS-10: the dearest is a conviction with a dispute open.
    std::uint64_t deadline() const { return task_end() + dispute() + moot(); }
    /// GAS-10: reads a round's candidates.
    static std::uint64_t pool(std::uint64_t candidates) { return kStakeRead * candidates; }
    std::uint64_t draw(Queue queue, std::uint64_t candidates) const {
        if (queue == Queue::kShow) {
            return task(5);  // RET-4: a tile is drawn from no candidates
        }
        const std::uint64_t places = queue == Queue::kSolver ? 1 : queue == Queue::kProfilers ? profiles_ : verdicts_;
        // BCN-10: who is drawn in the place of another is looked for among all. A committee takes less: it reads no
        // stake.
        const std::uint64_t looks = places + (queue == Queue::kVerifiers ? 1 : 0);  // VER-7: and where the draw fails
        return task(9 + 2 * places) + looks * kStakeRead * candidates;
    }

  private:
    // GAS-3: beyond the slot that it lies in.
    static constexpr std::uint64_t kTask = 20;
    static constexpr std::uint64_t kVerdict = 3;
    static constexpr std::uint64_t kWatcher = 3;
    static constexpr std::uint64_t kProfile = 2;
    static constexpr std::uint64_t kMember = 1;  ///< of a committee
    static constexpr std::uint64_t kAttestersPerGas = 4;
    static constexpr std::uint64_t kDispute = 50;
    static constexpr std::uint64_t kPosition = 80;   ///< a node of 1,024 inputs and 256 children
    static constexpr std::uint64_t kSeat = 1;        ///< of the beacon's record
    static constexpr std::uint64_t kStakeRead = 2;   ///< BCN-3, VAL-1: of each who holds a place, to find who gives way
    static constexpr std::uint64_t kSignature = 50;  ///< GAS-4: a BIP-340 signature, to verify
    static constexpr std::uint64_t kPoint = 20;      ///< GAS-4: a curve point, to decode
    static constexpr std::uint64_t kEd25519 = 150;   ///< to verify a signature by a consensus key
    // GAS-4
    static constexpr std::uint64_t kPartial = 60;

    /// AVL-7: of each segment those who attested, where a committee looked at it alone.
    std::uint64_t attesters() const { return members_ * (segments_ + 1) / kAttestersPerGas; }
    /// GAS-5: what is open when its task ends: the bond returns.
    static std::uint64_t moot() { return slots(5); }
    std::uint64_t dispute() const { return kDispute + task(5); }

    const std::uint64_t verdicts_;  ///< that can be due at once
    const std::uint64_t stored_;    ///< AVL-7: with those that were drawn before them
    const std::uint64_t verdict_;
    const std::uint64_t profiles_;
    const std::uint64_t members_;
    const std::uint64_t segments_;  ///< checked at most, without the evaluation
    const std::uint64_t seats_;
    const std::uint64_t hashed_;
};

}  // namespace assay::contracts
