// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <core/base/bytes.hpp>
#include <core/crypto/keys.hpp>
#include <core/crypto/signing_key.hpp>
#include <verifier/engine/cell/collective.hpp>
#include <verifier/group/comparison.hpp>
#include <verifier/group/findings.hpp>
#include <verifier/group/first_state.hpp>
#include <verifier/group/ledger.hpp>

namespace assay::group {

/// Whose statements a session consists of.
struct Signers {
    std::string chain_id;
    Hash256 task;
    std::vector<AccountId> accounts;  ///< of each rank
};

/// Whether a segment of the task begins with this step and the state with this root: what a member knows from the
/// chain. What is stated of another segment convicts nobody.
using SegmentCheck = std::function<bool(const Hash256& before, std::uint64_t first_step)>;

/// What signing has cost this rank.
struct StatementCost {
    std::uint64_t messages = 0;         ///< that it signed
    std::uint64_t pieces = 0;           ///< in them
    std::uint64_t value_bytes = 0;      ///< that they carry
    std::uint64_t signature_bytes = 0;  ///< that were added
    std::uint64_t compared = 0;         ///< segments in which it was compared what the ranks were told
    /// For hashing, signing and verifying, what it received included. Much of it passes while messages cross.
    std::chrono::nanoseconds time{};
};

/// Messages between ranks of several accounts. Each message with values of the execution carries its author's signature
/// of a statement about them (STM-2), without which it is not handed on; what a rank was told is kept in its ledger.
///
/// These messages have no values and carry no signature; none can make a rank accept a wrong state.
/// - Rank 0's orders, layout and program: engine::Terms has a member refuse another program or seed, steps out of
/// order,
///   for a second time or behind the segment's end, and a second state; SegmentCheck compares the segment with the
///   chain.
/// - Whether a rank's part of the next state is finite. A false "no" stops the step on all ranks, and rank 0 finds by
///   its own replay that it does not diverge before it may say so on the chain. A false "yes" leaves a state with
///   infinities, whose values are stated when rank 0 takes them.
/// - The random numbers of which a session's number is made (STM-3): one's own is enough to have a new one.
/// - How long a rank has computed.
/// - The hashes and tiles by which ranks compare the state that a segment begins with: FirstState has them lead to the
///   chain's root.
/// - Zeros in place of maxima of chunks of which a rank has nothing: compared with zero here.
class SignedCollective final : public engine::Collective {
  public:
    /// `links` have to be authenticated and confidential if others can reach them: signatures say who answers for what
    /// is told, not who may listen. `key` is that of this rank's account.
    SignedCollective(
        std::unique_ptr<engine::Collective> links, Signers signers, const crypto::SecretKey& key,
        std::shared_ptr<Ledger> ledger, SegmentCheck check,
        std::shared_ptr<Findings> findings = std::make_shared<Findings>()
    );

    std::uint32_t rank() const override { return links_->rank(); }
    std::uint32_t size() const override { return links_->size(); }
    std::vector<Bytes> exchange(std::vector<Bytes> to, const std::vector<std::uint64_t>& expected, std::uint32_t tag)
        override;
    void settle() override { links_->settle(); }
    void expect(const std::vector<engine::Ahead>& in_step) override;

    bool is_stated() const override { return true; }
    /// Throws engine::RankError, naming the rank, if it sends a message without its signature.
    /// Throws std::runtime_error rather than hand on what it must not.
    std::vector<Bytes> exchange_stated(
        std::vector<Bytes> to, const std::vector<std::uint64_t>& expected, std::uint32_t tag,
        const engine::Contents& contents
    ) override;
    void begin_segment(const Hash256& before, std::uint64_t first_step) override;
    void compare_state(const engine::GivenTensor& given, const canonical::Tensor& tensor) override;
    /// Compares what the ranks were told in the segment, and notes who has told two of them different things, whether
    /// this rank has found it or another one that shows the evidence. Throws std::runtime_error also if the evidence
    /// cannot be written.
    void end_segment() override;
    void begin_step(std::uint64_t step) override;

    const StatementCost& cost() const { return *cost_; }
    /// The same, for who gives the collective away.
    std::shared_ptr<const StatementCost> shared_cost() const { return cost_; }
    std::shared_ptr<Findings> findings() const { return findings_; }

  private:
    class Pieces;
    class Checked;
    Hash256 agree_on_session();
    dispute::Statement statement_of(const Pieces& pieces) const;
    Signature sign(const plan::MessagePieces& message, ByteView bytes);
    void check_zeros(std::uint32_t from, const plan::MessagePieces& message, ByteView bytes) const;
    void check(std::uint32_t from, const engine::Contents::Message& message, Pieces& pieces, ByteView signature);

    std::unique_ptr<engine::Collective> links_;
    Signers signers_;
    std::vector<std::optional<crypto::PublicKey>> keys_;  // of each rank
    crypto::SigningKey key_;
    std::shared_ptr<Ledger> ledger_;
    SegmentCheck check_;
    std::optional<Hash256> before_;          // once a segment has begun
    std::optional<FirstState> first_state_;  // likewise
    Hash256 session_;
    std::uint64_t first_step_ = 0;
    std::uint64_t step_ = 0;
    Heard heard_;  ///< in the segment
    bool is_compared_ = true;
    std::shared_ptr<Findings> findings_;
    std::shared_ptr<StatementCost> cost_ = std::make_shared<StatementCost>();
};

}  // namespace assay::group
