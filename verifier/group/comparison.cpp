// SPDX-License-Identifier: Apache-2.0
#include <verifier/group/comparison.hpp>

#include <algorithm>
#include <string>
#include <utility>

#include <core/codec/borsh.hpp>
#include <core/merkle/tree.hpp>
#include <verifier/group/shown.hpp>

namespace assay::group {

using engine::RankError;
using engine::RankFault;

namespace {

constexpr std::uint32_t kTag = 0x7ffffffe;                     // of no message of a step
constexpr std::uint64_t kBytesMax = std::uint64_t{64} << 20U;  // from one rank
constexpr std::size_t kAskedMax = 1;                           // of a rank: one is enough for a conviction
constexpr std::uint64_t kListBytes = sizeof(std::uint32_t);    // of its length

/// Messages whose length the receiver does not know: from one rank at most `bytes_max`.
std::vector<Bytes> exchange_any(engine::Collective& links, std::vector<Bytes> to, std::uint64_t bytes_max = kBytesMax) {
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
        if (expected[other] > bytes_max) {
            throw RankError(
                other, RankFault::kOtherLength,
                "rank " + std::to_string(other) + " shows " + std::to_string(expected[other]) +
                    " bytes of what it was told, more than the " + std::to_string(bytes_max) + " that one may"
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
template <class Said>
std::vector<std::uint32_t> differing(std::uint32_t other, const std::vector<HeardLine>& lines, const Said& said) {
    std::vector<std::uint32_t> out;
    for (std::uint32_t i = 0; i < lines.size() && out.size() < kAskedMax; ++i) {
        const HeardLine& line = lines[i];
        const auto heard = said.find({line.author, line.step, line.pieces});
        if (line.author != other && heard != said.end() && heard->second != line.said) {
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

/// What a rank was told on one occasion, from its ledger, which is read once the first message is looked for. What it
/// was told in earlier runs of the segment is there too, the same if nobody lied, and convicts nobody together with
/// what was told in this one.
class Kept {
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

/// What another rank asks for of this rank's lines.
Bytes answer_to(const Bytes& asked, const std::vector<HeardLine>& lines, Kept& kept) {
    std::vector<ShownMessage> out;
    for (const std::uint32_t index : list_of<std::uint32_t>(asked)) {
        if (index >= lines.size() || out.size() == kAskedMax) {
            continue;
        }
        if (const auto told = kept.find(lines[index])) {
            out.push_back(
                {.author = told->author,
                 .statement = told->statement,
                 .signature = told->signature,
                 .pieces = told->message->pieces,
                 .values = told->values}
            );
        }
    }
    return codec::encode(out);
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

Heard::Found Heard::find(
    engine::Collective& links, const Ledger& ledger, const Occasion& occasion, const std::function<IsSigned>& is_signed
) const {
    const std::uint32_t size = links.size();
    const auto line_of = [](const Place& place, const Hash256& said) {
        return HeardLine{std::get<0>(place), std::get<1>(place), std::get<2>(place), said};
    };
    std::vector<HeardLine> own;
    own.reserve(said_.size());
    for (const auto& [place, said] : said_) {
        own.push_back(line_of(place, said));
    }
    const std::vector<Bytes> shown = exchange_any(links, std::vector<Bytes>(size, codec::encode(own)));
    std::vector<Bytes> asks(size);
    for (std::uint32_t other = 0; other < size; ++other) {
        asks[other] = codec::encode(differing(other, list_of<HeardLine>(shown[other]), said_));
    }
    const std::vector<Bytes> asked = exchange_any(links, std::move(asks));
    Kept kept(ledger, occasion);
    std::vector<Bytes> answers(size);
    for (std::uint32_t other = 0; other < size; ++other) {
        answers[other] = answer_to(asked[other], own, kept);
    }
    const std::vector<Bytes> answered = exchange_any(links, std::move(answers));
    Found out;
    const auto note = [&](const std::shared_ptr<const Told>& one, const std::shared_ptr<const Told>& other) {
        const auto found = one && other ? find_equivocation({one, other}) : std::nullopt;
        if (found) {
            out.try_emplace(found->author, *found);
        }
    };
    for (const auto& [author, both] : contradicted_) {
        const auto& [place, said] = both;
        note(kept.find(line_of(place, said_.at(place))), kept.find(line_of(place, said)));
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
                note(kept.find(line_of(ours->first, ours->second)), told);
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
