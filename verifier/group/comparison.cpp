// SPDX-License-Identifier: Apache-2.0
#include <verifier/group/comparison.hpp>

#include <algorithm>
#include <string>
#include <utility>

#include <core/codec/borsh.hpp>
#include <core/crypto/hash.hpp>
#include <core/merkle/tree.hpp>
#include <verifier/group/shown.hpp>

namespace assay::group {

using engine::RankError;
using engine::RankFault;

namespace {

constexpr std::uint32_t kTag = 0x7ffffffe;                     // of no message of a step
constexpr std::uint64_t kBytesMax = std::uint64_t{64} << 20U;  // from one rank
constexpr std::size_t kAskedMax = 1;                           // of a rank: one is enough for a conviction

Hash256 hash_of(const plan::MessagePieces& message) { return crypto::sha256(codec::encode(message.pieces)); }

/// Messages whose length the receiver does not know.
std::vector<Bytes> exchange_any(engine::Collective& links, std::vector<Bytes> to) {
    const std::uint32_t size = links.size();
    std::vector<Bytes> lengths(size);
    std::vector<std::uint64_t> expected(size, sizeof(std::uint64_t));
    for (std::uint32_t other = 0; other < size; ++other) {
        lengths[other] = codec::encode(static_cast<std::uint64_t>(to[other].size()));
    }
    lengths[links.rank()].clear();
    to[links.rank()].clear();
    expected[links.rank()] = 0;
    const std::vector<Bytes> said = links.exchange(std::move(lengths), expected, kTag);
    for (std::uint32_t other = 0; other < size; ++other) {
        expected[other] = other == links.rank() ? 0 : codec::decode<std::uint64_t>(said[other]).value();
        if (expected[other] > kBytesMax) {
            throw RankError(
                other, RankFault::kOtherLength,
                "rank " + std::to_string(other) + " shows " + std::to_string(expected[other]) +
                    " bytes of what it was told, more than the " + std::to_string(kBytesMax) + " that one may"
            );
        }
    }
    return links.exchange(std::move(to), expected, kTag);
}

template <class T>
std::vector<T> list_of(const Bytes& bytes) {
    // Who sends what is no list has nothing to show.
    auto list = codec::decode<std::vector<T>>(bytes);
    return list ? *std::move(list) : std::vector<T>();
}

std::shared_ptr<const Told> told_of(ShownMessage shown) {
    auto message = std::make_shared<const plan::MessagePieces>(plan::MessagePieces{
        .pieces = std::move(shown.pieces), .zeros = {}, .bytes = 0});
    return std::make_shared<const Told>(Told{
        .author = shown.author,
        .statement = shown.statement,
        .signature = shown.signature,
        .message = std::move(message),
        .values = std::move(shown.values)});
}

/// Which of the lines that `other` shows differ from what this rank was told.
template <class Roots>
std::vector<std::uint32_t> differing(std::uint32_t other, const std::vector<HeardLine>& lines, const Roots& roots) {
    std::vector<std::uint32_t> out;
    for (std::uint32_t i = 0; i < lines.size() && out.size() < kAskedMax; ++i) {
        const HeardLine& line = lines[i];
        const auto heard = roots.find({line.author, line.step, line.pieces});
        if (line.author != other && heard != roots.end() && heard->second != line.root) {
            out.push_back(i);
        }
    }
    return out;
}

/// Whether the values are those of the statement.
bool is_whole(const Told& told) {
    if (told.values.empty() || told.values.size() != told.message->pieces.size()) {
        return false;
    }
    std::vector<Hash256> leaves;
    for (std::size_t i = 0; i < told.values.size(); ++i) {
        leaves.push_back(dispute::piece_leaf(told.piece(i)));
    }
    return told.statement.pieces == leaves.size() && merkle::root_of(leaves) == told.statement.root;
}

}  // namespace

void Findings::add(Finding finding) {
    const std::scoped_lock lock(mutex_);
    members_.insert(finding.member);
    findings_.push_back(std::move(finding));
}

std::set<AccountId> Findings::members() const {
    const std::scoped_lock lock(mutex_);
    return members_;
}

std::vector<Finding> Findings::take() {
    const std::scoped_lock lock(mutex_);
    return std::exchange(findings_, {});
}

void Heard::add(const Told& told) {
    const auto [hash, is_new] = hashes_.try_emplace(told.message);
    if (is_new) {
        hash->second = hash_of(*told.message);
    }
    roots_.try_emplace(Place(told.author, told.statement.step, hash->second), told.statement.root);
}

void Heard::clear() {
    roots_.clear();
    hashes_.clear();
}

std::vector<Equivocation> Heard::compare(
    engine::Collective& links, const Ledger& ledger, std::uint64_t first_step, const std::function<IsSigned>& is_signed
) const {
    const std::uint32_t size = links.size();
    std::vector<HeardLine> own;
    own.reserve(roots_.size());
    for (const auto& [place, root] : roots_) {
        own.push_back({std::get<0>(place), std::get<1>(place), std::get<2>(place), root});
    }
    const std::vector<Bytes> shown = exchange_any(links, std::vector<Bytes>(size, codec::encode(own)));
    std::vector<Bytes> asks(size);
    for (std::uint32_t other = 0; other < size; ++other) {
        asks[other] = codec::encode(differing(other, list_of<HeardLine>(shown[other]), roots_));
    }
    const std::vector<Bytes> asked = exchange_any(links, std::move(asks));
    // The ledger is read only where somebody was told two things.
    std::vector<std::shared_ptr<const Told>> all;
    const auto find = [&](std::uint32_t author, std::uint64_t step, const Hash256& pieces) {
        if (all.empty()) {
            all = ledger.told(first_step);
        }
        return std::find_if(all.begin(), all.end(), [&](const auto& told) {
            return told->author == author && told->statement.step == step && hash_of(*told->message) == pieces &&
                   roots_.at({author, step, pieces}) == told->statement.root;
        });
    };
    std::vector<Bytes> answers(size);
    for (std::uint32_t other = 0; other < size; ++other) {
        std::vector<ShownMessage> out;
        for (const std::uint32_t index : list_of<std::uint32_t>(asked[other])) {
            if (index >= own.size() || out.size() == kAskedMax) {
                continue;
            }
            const auto told = find(own[index].author, own[index].step, own[index].pieces);
            if (told != all.end()) {
                out.push_back(
                    {.author = (*told)->author,
                     .statement = (*told)->statement,
                     .signature = (*told)->signature,
                     .pieces = (*told)->message->pieces,
                     .values = (*told)->values}
                );
            }
        }
        answers[other] = codec::encode(out);
    }
    const std::vector<Bytes> answered = exchange_any(links, std::move(answers));
    std::vector<Equivocation> out;
    for (const Bytes& bytes : answered) {
        for (ShownMessage& theirs : list_of<ShownMessage>(bytes)) {
            const auto told = told_of(std::move(theirs));
            const Hash256 pieces = hash_of(*told->message);
            const bool is_shown = told->author < size && is_whole(*told) &&
                                  roots_.contains({told->author, told->statement.step, pieces}) &&
                                  is_signed(told->author, told->statement, told->signature);
            const auto ours = is_shown ? find(told->author, told->statement.step, pieces) : all.end();
            const auto found = ours != all.end() ? find_equivocation({*ours, told}) : std::nullopt;
            if (found) {
                out.push_back(*found);
            }
        }
    }
    return out;
}

}  // namespace assay::group
