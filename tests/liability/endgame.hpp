// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include <core/crypto/keys.hpp>
#include <tests/liability/plan.hpp>

/// How attackers go on from a state in which somebody honest owes a reply.
namespace assay::liability {

enum class Continuation : std::uint8_t {
    kSilence,     ///< they send nothing any more
    kLastMoment,  ///< they do what they may just before their clocks run out, and nothing else
    kFullBlocks,  ///< they fill every block for more than anybody honest offers, as long as their money lasts
};
inline constexpr Continuation kContinuations[] = {
    Continuation::kSilence, Continuation::kLastMoment, Continuation::kFullBlocks};
const char* to_string(Continuation continuation) noexcept;

/// Accuses honest solvers and verifiers falsely when a window is about to end, and moves in disputes as late as it may.
class Staller {
  public:
    explicit Staller(std::vector<Member> members) : members_(std::move(members)) {}

    /// Called at the last moments.
    void act(const Stage& stage, const std::set<AccountId>& honest);

  private:
    void accuse(
        const Stage& stage, const contracts::TaskId& id, const model::Task& task, const std::set<AccountId>& honest
    );
    void move(const Stage& stage, Member& member, const contracts::DisputeId& id, const model::Dispute& dispute);

    std::vector<Member> members_;
    std::map<contracts::DisputeId, model::Player> players_;
};

/// Fills blocks with the largest transactions that there can be, since a block has less room than gas for these.
class Filler {
  public:
    Filler(std::vector<crypto::SecretKey> keys, std::string chain_id)
        : keys_(std::move(keys)), chain_id_(std::move(chain_id)) {}

    /// Of a block, while it is filled: a sixteenth of the default `block_size_max`, since such blocks take long to
    /// hash.
    static constexpr std::uint64_t kBlockBytes = 256U << 10U;

    bool owns(const AccountId& account) const;
    /// Offers more than whatever waits of others.
    void act(const Stage& stage);
    /// Likewise, when a node takes this transaction.
    void see_transaction(const Stage& stage, const Bytes& tx);

  private:
    void raise(const Stage& stage, std::uint64_t price);
    bool fill_from(const Stage& stage, const crypto::SecretKey& key, std::uint64_t price);
    std::uint64_t price_of(const Stage& stage, const Bytes& tx) const;

    std::vector<crypto::SecretKey> keys_;
    std::string chain_id_;
    std::uint64_t price_ = 0;  ///< for a unit of gas, of what waits
    std::uint64_t filled_at_ = 0;
};

}  // namespace assay::liability
