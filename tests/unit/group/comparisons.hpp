// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <core/codec/borsh.hpp>
#include <core/crypto/keys.hpp>
#include <core/merkle/tree.hpp>
#include <tests/unit/group/group_runs.hpp>
#include <verifier/group/comparison.hpp>

/// Groups of threads that compare what they were told.
namespace assay::group::testing {

using engine::Collective;

inline constexpr std::uint64_t kFirstStep = 3;
inline constexpr std::uint32_t kRanks = 5;
inline constexpr std::uint32_t kLiar = 4;
inline constexpr std::uint64_t kLedgerBytes = std::uint64_t{1} << 20U;

inline Hash256 hash_of(std::uint8_t n) {
    Hash256 out;
    out.data.fill(n);
    return out;
}

inline const group::Occasion kOccasion{
    .task = hash_of(5), .before = hash_of(6), .session = hash_of(7), .first_step = kFirstStep};

/// A message of some pieces, each of one value of a node's output.
inline std::shared_ptr<const plan::MessagePieces> message_of(std::uint32_t node, std::uint32_t pieces) {
    auto out = std::make_shared<plan::MessagePieces>();
    for (std::uint32_t i = 0; i < pieces; ++i) {
        plan::MessagePiece piece;
        piece.source = canonical::Source::kNode;
        piece.index = node;
        piece.row = i;
        piece.rows = 1;
        piece.cols = 1;
        piece.width = 4;
        out->pieces.push_back(piece);
    }
    return out;
}

/// A message with the same pieces behind others, the last one first, and twice if somebody needs them for two things:
/// the first one too if `twice`. So the last piece is the first one of `inner`.
inline std::shared_ptr<const plan::MessagePieces> message_around(const plan::MessagePieces& inner, bool twice) {
    plan::MessagePieces out = *message_of(2, 2);
    for (std::size_t i = inner.pieces.size(); i-- > 0;) {
        plan::MessagePiece piece = inner.pieces[i];
        piece.offset += 100;
        out.pieces.insert(out.pieces.end(), i == 0 && !twice ? 1 : 2, piece);
    }
    return std::make_shared<const plan::MessagePieces>(out);
}

struct Saying {
    std::uint32_t author = kLiar;
    std::uint8_t value = 1;  ///< of the last piece
    std::uint64_t step = kFirstStep;
    Hash256 session = kOccasion.session;
    Hash256 before = kOccasion.before;
    Hash256 task = kOccasion.task;
};

inline Told told_of(const std::shared_ptr<const plan::MessagePieces>& message, const Saying& saying) {
    Told out{.author = saying.author, .statement = {}, .signature = {}, .message = message, .values = {}};
    std::vector<Hash256> leaves;
    for (std::size_t i = 0; i < message->pieces.size(); ++i) {
        const bool is_last = i + 1 == message->pieces.size();
        out.values.push_back(dispute::values_hash(Bytes(4, is_last ? saying.value : 0)));
        leaves.push_back(dispute::piece_leaf(out.piece(i)));
    }
    out.statement = {
        .task = saying.task,
        .before = saying.before,
        .session = saying.session,
        .step = saying.step,
        .pieces = static_cast<std::uint32_t>(leaves.size()),
        .root = merkle::root_of(leaves)};
    const Hash256 digest = dispute::statement_digest(signers_of(kRanks).chain_id, out.statement);
    out.signature = key_of(saying.author).sign(digest.view());
    return out;
}

inline bool is_signed(std::uint32_t author, const dispute::Statement& statement, const Signature& signature) {
    const group::Signers signers = signers_of(kRanks);
    const Hash256 digest = dispute::statement_digest(signers.chain_id, statement);
    return crypto::verify_signature(signers.accounts.at(author), digest.view(), signature);
}

inline Equivocation evidence_of(const Told& one, const Told& other, std::size_t piece) {
    return {
        .author = one.author,
        .one = one.stated(piece),
        .one_signature = one.signature,
        .other = other.stated(piece),
        .other_signature = other.signature};
}

/// Has a rank show something else than what it found: the last of the messages by which ranks compare.
class ShowsOther final : public Collective {
  public:
    using Alter = std::function<Bytes(const Bytes&)>;
    ShowsOther(std::unique_ptr<Collective> inner, Alter alter) : inner_(std::move(inner)), alter_(std::move(alter)) {}
    std::uint32_t rank() const override { return inner_->rank(); }
    std::uint32_t size() const override { return inner_->size(); }
    std::vector<Bytes> exchange(std::vector<Bytes> to, const std::vector<std::uint64_t>& expected, std::uint32_t tag)
        override {
        // First come the numbers of lines, then that of the rounds, the rounds, and questions, answers and evidence,
        // each behind its length. The length of the evidence is not known before, and so the evidence is altered when
        // its length is to be said.
        const std::uint64_t number = exchanges_++;
        if (number == kRoundsAt && rank() == 0) {
            evidence_at_ = after_rounds(to[1]);
        }
        for (std::uint32_t other = 0; other < size(); ++other) {
            if (other != rank() && number == evidence_at_) {
                to[other] = codec::encode(std::uint64_t{alter_({}).size()});
            } else if (other != rank() && evidence_at_ && number == *evidence_at_ + 1) {
                to[other] = alter_(to[other]);
            }
        }
        std::vector<Bytes> out = inner_->exchange(std::move(to), expected, tag);
        if (number == kRoundsAt && rank() != 0) {
            evidence_at_ = after_rounds(out[0]);
        }
        return out;
    }
    void settle() override { inner_->settle(); }

  private:
    static inline constexpr std::uint32_t kRoundsAt = 1;
    static std::uint64_t after_rounds(const Bytes& rounds) {
        return kRoundsAt + 1 + codec::decode<std::uint64_t>(rounds).value() + 4;
    }

    std::unique_ptr<Collective> inner_;
    Alter alter_;
    std::uint64_t exchanges_ = 0;
    std::optional<std::uint64_t> evidence_at_;  // once the rounds are known
};

/// Alters what a rank sends in each exchange, which are counted from 0.
class Tampers final : public Collective {
  public:
    using Alter = std::function<void(std::uint32_t number, std::vector<Bytes>& to)>;
    Tampers(std::unique_ptr<Collective> inner, Alter alter) : inner_(std::move(inner)), alter_(std::move(alter)) {}
    std::uint32_t rank() const override { return inner_->rank(); }
    std::uint32_t size() const override { return inner_->size(); }
    std::vector<Bytes> exchange(std::vector<Bytes> to, const std::vector<std::uint64_t>& expected, std::uint32_t tag)
        override {
        alter_(exchanges_++, to);
        return inner_->exchange(std::move(to), expected, tag);
    }
    void settle() override { inner_->settle(); }

  private:
    std::unique_ptr<Collective> inner_;
    Alter alter_;
    std::uint32_t exchanges_ = 0;
};

struct Compared {
    std::vector<std::vector<Equivocation>> found{kRanks};  ///< by each rank
    std::vector<std::optional<engine::RankError>> errors{kRanks};

    bool has(std::uint32_t rank, std::uint32_t author) const {
        return std::count_if(found[rank].begin(), found[rank].end(), [&](const Equivocation& each) {
                   return each.author == author;
               }) == 1;
    }
};

/// What each rank was told, in this run of the segment and in earlier ones; what ranks show in place of what they
/// found, or send in place of anything else.
struct Group {
    std::map<std::uint32_t, std::vector<Told>> told{};
    std::map<std::uint32_t, std::vector<Told>> earlier{};
    std::map<std::uint32_t, ShowsOther::Alter> shows{};
    std::map<std::uint32_t, Tampers::Alter> tampers{};
    std::uint32_t lines_at_once = group::kLinesAtOnce;

    Compared compare() const {
        const test::TemporaryDirectory directory;
        auto links = engine::connect_threads(kRanks);
        Compared out;
        std::vector<std::jthread> threads;
        for (std::uint32_t rank = 0; rank < kRanks; ++rank) {
            if (const auto alter = shows.find(rank); alter != shows.end()) {
                links[rank] = std::make_unique<ShowsOther>(std::move(links[rank]), alter->second);
            }
            if (const auto alter = tampers.find(rank); alter != tampers.end()) {
                links[rank] = std::make_unique<Tampers>(std::move(links[rank]), alter->second);
            }
            threads.emplace_back([&, rank, own = std::shared_ptr<Collective>(std::move(links[rank]))] {
                group::Ledger ledger(directory.path() / std::to_string(rank), kLedgerBytes);
                group::Heard heard(lines_at_once);
                for (const auto* messages : {&earlier, &told}) {
                    const auto all = messages->find(rank);
                    for (std::size_t i = 0; all != messages->end() && i < all->second.size(); ++i) {
                        ledger.add(kFirstStep, all->second[i]);
                        if (messages == &told) {
                            heard.add(all->second[i]);
                        }
                    }
                }
                try {
                    out.found[rank] = heard.compare(*own, ledger, kOccasion, is_signed);
                } catch (const engine::RankError& error) {
                    out.errors[rank] = error;
                }
            });
        }
        threads.clear();
        return out;
    }
};

/// Ranks 1 and 2 are told two values of one thing, the others none.
inline Group two_are_told() {
    const auto message = message_of(1, 3);
    Group out;
    out.told[1] = {told_of(message, {.value = 1})};
    out.told[2] = {told_of(message, {.value = 2})};
    return out;
}

inline Bytes list_of(const std::vector<Equivocation>& shown) { return codec::encode(shown); }

}  // namespace assay::group::testing
