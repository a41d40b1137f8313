// SPDX-License-Identifier: Apache-2.0
#include <verifier/group/comparison.hpp>

#include <algorithm>
#include <iterator>
#include <set>
#include <string>
#include <utility>

#include <core/codec/borsh.hpp>
#include <core/merkle/tree.hpp>

namespace assay::group {

using engine::RankError;
using engine::RankFault;

namespace {

constexpr std::uint32_t kTag = 0x7ffffffe;                   // of no message of a step
constexpr std::size_t kAskedMax = 1;                         // of a rank: one is enough for a conviction
constexpr std::uint64_t kListBytes = sizeof(std::uint32_t);  // of its length
constexpr std::uint64_t kLineBytes = sizeof(std::uint32_t) + sizeof(std::uint64_t) + 2 * Hash256::kSizeBytes;
constexpr std::uint64_t kAskBytesMax = kListBytes + kAskedMax * sizeof(std::uint64_t);
/// Of a message that a rank shows with its pieces and their hashes. Whoever was told a longer one does not show it.
constexpr std::uint64_t kShownBytesMax = std::uint64_t{64} << 20U;

/// A number from each rank; 0 in this one's place.
std::vector<std::uint64_t> exchange_numbers(engine::Collective& links, const std::vector<std::uint64_t>& to) {
    std::vector<Bytes> numbers(links.size());
    std::vector<std::uint64_t> expected(links.size(), sizeof(std::uint64_t));
    for (std::uint32_t other = 0; other < links.size(); ++other) {
        numbers[other] = codec::encode(to[other]);
    }
    numbers[links.rank()].clear();
    expected[links.rank()] = 0;
    const std::vector<Bytes> said = links.exchange(std::move(numbers), expected, kTag);
    std::vector<std::uint64_t> out(links.size());
    for (std::uint32_t other = 0; other < links.size(); ++other) {
        out[other] = other == links.rank() ? 0 : codec::decode<std::uint64_t>(said[other]).value();
    }
    return out;
}

RankError shows_too_much(std::uint32_t rank, std::uint64_t count, const std::string& unit, std::uint64_t most) {
    return {
        rank, RankFault::kOtherLength,
        "rank " + std::to_string(rank) + " shows " + std::to_string(count) + " " + unit +
            " of what it was told, more than the " + std::to_string(most) + " that one may"};
}

/// Messages whose length the receiver does not know: from one rank at most `bytes_max`.
std::vector<Bytes> exchange_any(engine::Collective& links, std::vector<Bytes> to, std::uint64_t bytes_max) {
    std::vector<std::uint64_t> lengths;
    for (const Bytes& message : to) {
        lengths.push_back(message.size());
    }
    const std::vector<std::uint64_t> expected = exchange_numbers(links, lengths);
    for (std::uint32_t other = 0; other < links.size(); ++other) {
        if (expected[other] > bytes_max) {
            throw shows_too_much(other, expected[other], "bytes", bytes_max);
        }
    }
    to[links.rank()].clear();
    return links.exchange(std::move(to), expected, kTag);
}

/// Rank 0 says in how many rounds all ranks show their lines, of which no rank may have more than `most` rounds: ranks
/// that did not agree would wait for each other.
std::uint64_t agree_on_rounds(engine::Collective& links, const std::vector<std::uint64_t>& rounds, std::uint64_t most) {
    std::uint64_t out = *std::max_element(rounds.begin(), rounds.end());
    if (links.rank() == 0) {
        std::vector<Bytes> to(links.size(), codec::encode(out));
        to[0].clear();
        links.exchange(std::move(to), std::vector<std::uint64_t>(links.size()), kTag);
        return out;
    }
    std::vector<std::uint64_t> expected(links.size());
    expected[0] = sizeof(std::uint64_t);
    const std::vector<Bytes> said = links.exchange(std::vector<Bytes>(links.size()), expected, kTag);
    out = codec::decode<std::uint64_t>(said[0]).value();
    if (out < rounds[links.rank()] || out > most) {
        throw RankError(
            0, RankFault::kOtherLength,
            "rank 0 has the ranks show what they were told in " + std::to_string(out) + " rounds, where this one has " +
                std::to_string(rounds[links.rank()]) + " and none can have more than " + std::to_string(most)
        );
    }
    return out;
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

void Heard::add(const Told& told) {
    for (const Topic& topic : topics_.of(told.message)) {
        const Place place(told.author, told.statement.step, topic.pieces);
        const Hash256 said = said_of(topic, told.values);
        const auto [first, is_first] = said_.try_emplace(place, said);
        if (first->second != said || contradicts_itself(topic, told.values)) {
            contradicted_.try_emplace(told.author, place, said);
        }
    }
}

void Heard::clear() {
    said_.clear();
    contradicted_.clear();
    topics_.clear();
}

/// What a rank was told on one occasion, from its ledger, which is read once the first message is looked for. What it
/// was told in earlier runs of the segment is there too, the same if nobody lied, and convicts nobody together with
/// what was told in this one.
class Heard::Kept {
  public:
    Kept(const Ledger& ledger, const Occasion& occasion) : ledger_(ledger), occasion_(occasion) {}

    /// A message that says so, one that also says otherwise if there is one; nullptr if the ledger has none, or its
    /// disk has damaged it.
    std::shared_ptr<const Told> find(const HeardLine& line) {
        if (!is_read_) {
            read();
        }
        const auto found = messages_.find({line.author, line.step, line.pieces, line.said});
        return found == messages_.end() ? nullptr : found->second;
    }

  private:
    void read() {
        is_read_ = true;
        TopicsByMessage topics;
        for (const auto& told : ledger_.told(occasion_.first_step)) {
            if (!is_of(told->statement, occasion_)) {
                continue;
            }
            for (const Topic& topic : topics.of(told->message)) {
                const auto [first, is_first] = messages_.try_emplace(
                    {told->author, told->statement.step, topic.pieces, said_of(topic, told->values)}, told
                );
                if (!is_first && contradicts_itself(topic, told->values)) {
                    first->second = told;
                }
            }
        }
    }

    const Ledger& ledger_;
    const Occasion& occasion_;
    bool is_read_ = false;
    std::map<std::tuple<std::uint32_t, std::uint64_t, Hash256, Hash256>, std::shared_ptr<const Told>> messages_;
};

namespace {

HeardLine line_of(const std::pair<const std::tuple<std::uint32_t, std::uint64_t, Hash256>, Hash256>& said) {
    const auto& [author, step, pieces] = said.first;
    return {author, step, pieces, said.second};
}

}  // namespace

// The first of the lines that `other` shows which differs from what this rank was told.
std::optional<std::uint64_t> Heard::differing(std::uint32_t other, const std::vector<HeardLine>& lines) const {
    for (std::size_t i = 0; i < lines.size(); ++i) {
        const HeardLine& line = lines[i];
        const auto heard = said_.find({line.author, line.step, line.pieces});
        if (line.author != other && heard != said_.end() && heard->second != line.said) {
            return i;
        }
    }
    return std::nullopt;
}

// All ranks take part in each round, with lines or without, so that nobody waits longer for one of them than for one
// message. Whoever says that it has many lines has to send them: their number is their length. Returns what to ask each
// other rank for.
std::vector<Bytes> Heard::show_lines(engine::Collective& links, std::uint64_t lines_max) const {
    const std::uint32_t size = links.size();
    const auto rounds_of = [&](std::uint64_t lines) { return lines / lines_at_once_ + (lines % lines_at_once_ != 0); };
    std::vector<std::uint64_t> counts = exchange_numbers(links, std::vector<std::uint64_t>(size, said_.size()));
    counts[links.rank()] = said_.size();
    std::vector<std::uint64_t> rounds_each;
    for (std::uint32_t rank = 0; rank < size; ++rank) {
        if (rank != links.rank() && counts[rank] > lines_max) {
            throw shows_too_much(rank, counts[rank], "lines", lines_max);
        }
        rounds_each.push_back(rounds_of(counts[rank]));
    }
    const std::uint64_t rounds = agree_on_rounds(links, rounds_each, rounds_of(lines_max));
    std::vector<std::vector<std::uint64_t>> asks(size);
    auto next = said_.begin();
    for (std::uint64_t first = 0; first < rounds * lines_at_once_; first += lines_at_once_) {
        std::vector<HeardLine> own;
        for (; next != said_.end() && own.size() < lines_at_once_; ++next) {
            own.push_back(line_of(*next));
        }
        std::vector<Bytes> to(size, codec::encode(own));
        std::vector<std::uint64_t> expected(size);
        for (std::uint32_t other = 0; other < size; ++other) {
            const std::uint64_t left = counts[other] - std::min(counts[other], first);
            expected[other] = kListBytes + std::min<std::uint64_t>(left, lines_at_once_) * kLineBytes;
        }
        to[links.rank()].clear();
        expected[links.rank()] = 0;
        const std::vector<Bytes> shown = links.exchange(std::move(to), expected, kTag);
        for (std::uint32_t other = 0; other < size; ++other) {
            const auto found =
                asks[other].size() < kAskedMax ? differing(other, list_of<HeardLine>(shown[other])) : std::nullopt;
            if (found) {
                asks[other].push_back(first + *found);
            }
        }
    }
    std::vector<Bytes> out;
    for (const std::vector<std::uint64_t>& ask : asks) {
        out.push_back(codec::encode(ask));
    }
    return out;
}

// What another rank asks for of this rank's lines.
Bytes Heard::answer_to(const Bytes& asked, Kept& kept) const {
    std::vector<ShownMessage> out;
    for (const std::uint64_t index : list_of<std::uint64_t>(asked)) {
        if (index >= said_.size() || out.size() == kAskedMax) {
            continue;
        }
        const auto line = std::next(said_.begin(), static_cast<std::ptrdiff_t>(index));
        if (const auto told = kept.find(line_of(*line))) {
            out.push_back(
                {.author = told->author,
                 .statement = told->statement,
                 .signature = told->signature,
                 .pieces = told->message->pieces,
                 .values = told->values}
            );
        }
    }
    Bytes bytes = codec::encode(out);
    return bytes.size() <= kShownBytesMax ? bytes : codec::encode(std::vector<ShownMessage>());
}

Heard::Found Heard::find(
    engine::Collective& links, const Ledger& ledger, const Occasion& occasion, const std::function<IsSigned>& is_signed
) const {
    const std::uint32_t size = links.size();
    // Of each line the ledger has the hash of a piece at least.
    const std::vector<Bytes> asked =
        exchange_any(links, show_lines(links, ledger.bytes_max() / Hash256::kSizeBytes), kAskBytesMax);
    Kept kept(ledger, occasion);
    std::vector<Bytes> answers(size);
    for (std::uint32_t other = 0; other < size; ++other) {
        answers[other] = answer_to(asked[other], kept);
    }
    const std::vector<Bytes> answered = exchange_any(links, std::move(answers), kShownBytesMax);
    Found out;
    const auto note = [&](const std::shared_ptr<const Told>& one, const std::shared_ptr<const Told>& other) {
        const auto found = one && other ? find_equivocation({one, other}) : std::nullopt;
        if (found) {
            out.try_emplace(found->author, *found);
        }
    };
    for (const auto& [author, both] : contradicted_) {
        const auto& [place, said] = both;
        note(kept.find(line_of({place, said_.at(place)})), kept.find(line_of({place, said})));
    }
    for (const Bytes& bytes : answered) {
        auto messages = list_of<ShownMessage>(bytes);
        messages.resize(std::min(messages.size(), kAskedMax));
        for (ShownMessage& theirs : messages) {
            const auto told = told_of(std::move(theirs));
            const bool is_shown = told->author < size && is_of(told->statement, occasion) && is_whole(*told) &&
                                  is_signed(told->author, told->statement, told->signature);
            if (!is_shown) {
                continue;
            }
            if (const auto ours = contradicted_by(*told)) {
                note(kept.find(line_of({ours->first, ours->second})), told);
            }
        }
    }
    return out;
}

// The first of what was said to this rank that the message says otherwise.
std::optional<std::pair<Heard::Place, Hash256>> Heard::contradicted_by(const Told& told) const {
    for (const Topic& topic : topics_of(*told.message)) {
        const auto ours = said_.find({told.author, told.statement.step, topic.pieces});
        if (ours != said_.end() && ours->second != said_of(topic, told.values)) {
            return *ours;
        }
    }
    return std::nullopt;
}

// STM-3: who was told nothing of the piece learns it only so. What another rank shows costs this one two signatures for
// each rank at most, and what is not proven is as if it was not shown.
std::vector<Equivocation> Heard::compare(
    engine::Collective& links, const Ledger& ledger, const Occasion& occasion, const std::function<IsSigned>& is_signed
) const {
    const std::uint32_t size = links.size();
    Found found = find(links, ledger, occasion, is_signed);
    std::vector<Equivocation> out;
    for (const auto& [author, evidence] : found) {
        out.push_back(evidence);
    }
    const std::vector<Bytes> shown =
        exchange_any(links, std::vector<Bytes>(size, codec::encode(out)), kListBytes + size * kEquivocationBytesMax);
    for (const Bytes& bytes : shown) {
        std::set<std::uint32_t> authors{links.rank()};  // who knows best whether it has signed two things
        for (Equivocation& each : list_of<Equivocation>(bytes)) {
            const bool is_new =
                each.author < size && authors.insert(each.author).second && !found.contains(each.author);
            if (is_new && is_proven(each, occasion, is_signed)) {
                found.emplace(each.author, each);
                out.push_back(std::move(each));
            }
        }
    }
    return out;
}

}  // namespace assay::group
