// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include <core/codec/borsh.hpp>
#include <core/crypto/keys.hpp>
#include <core/merkle/tree.hpp>
#include <tests/unit/group/group_runs.hpp>
#include <verifier/group/comparison.hpp>

using namespace assay;
using namespace assay::group::testing;
using engine::Collective;
using group::Equivocation;
using group::Told;

namespace {

constexpr std::uint64_t kFirstStep = 3;
constexpr std::uint32_t kRanks = 5;
constexpr std::uint32_t kLiar = 4;
constexpr std::uint64_t kLedgerBytes = std::uint64_t{1} << 20U;

Hash256 hash_of(std::uint8_t n) {
    Hash256 out;
    out.data.fill(n);
    return out;
}

const group::Occasion kOccasion{
    .task = hash_of(5), .before = hash_of(6), .session = hash_of(7), .first_step = kFirstStep};

/// A message of some pieces, each of one value of a node's output.
std::shared_ptr<const plan::MessagePieces> message_of(std::uint32_t node, std::uint32_t pieces) {
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
std::shared_ptr<const plan::MessagePieces> message_around(const plan::MessagePieces& inner, bool twice) {
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

Told told_of(const std::shared_ptr<const plan::MessagePieces>& message, const Saying& saying) {
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

bool is_signed(std::uint32_t author, const dispute::Statement& statement, const Signature& signature) {
    const group::Signers signers = signers_of(kRanks);
    const Hash256 digest = dispute::statement_digest(signers.chain_id, statement);
    return crypto::verify_signature(signers.accounts.at(author), digest.view(), signature);
}

Equivocation evidence_of(const Told& one, const Told& other, std::size_t piece) {
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
        // A length comes before each of lines, questions, answers and evidence. The length of the evidence is not known
        // before, and so the evidence is altered when its length is to be said.
        constexpr std::uint32_t kEvidenceLength = 6;
        const std::uint32_t number = exchanges_++;
        for (std::uint32_t other = 0; other < size(); ++other) {
            if (other != rank() && number == kEvidenceLength) {
                to[other] = codec::encode(std::uint64_t{alter_({}).size()});
            } else if (other != rank() && number == kEvidenceLength + 1) {
                to[other] = alter_(to[other]);
            }
        }
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

/// What each rank was told, in this run of the segment and in earlier ones; and what ranks show in place of what they
/// found.
struct Group {
    std::map<std::uint32_t, std::vector<Told>> told{};
    std::map<std::uint32_t, std::vector<Told>> earlier{};
    std::map<std::uint32_t, ShowsOther::Alter> shows{};

    Compared compare() const {
        const test::TemporaryDirectory directory;
        auto links = engine::connect_threads(kRanks);
        Compared out;
        std::vector<std::jthread> threads;
        for (std::uint32_t rank = 0; rank < kRanks; ++rank) {
            if (const auto alter = shows.find(rank); alter != shows.end()) {
                links[rank] = std::make_unique<ShowsOther>(std::move(links[rank]), alter->second);
            }
            threads.emplace_back([&, rank, own = std::shared_ptr<Collective>(std::move(links[rank]))] {
                group::Ledger ledger(directory.path() / std::to_string(rank), kLedgerBytes);
                group::Heard heard;
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
Group two_are_told() {
    const auto message = message_of(1, 3);
    Group out;
    out.told[1] = {told_of(message, {.value = 1})};
    out.told[2] = {told_of(message, {.value = 2})};
    return out;
}

Bytes list_of(const std::vector<Equivocation>& shown) { return codec::encode(shown); }

}  // namespace

TEST_CASE("STM-3: ranks that were told neither of two values learn who told them to others") {
    const Compared compared = two_are_told().compare();
    for (std::uint32_t rank = 0; rank < kRanks; ++rank) {
        CAPTURE(rank);
        CHECK_FALSE(compared.errors[rank].has_value());
        CHECK(compared.found[rank].size() == (rank == kLiar ? 0 : 1));
        for (const Equivocation& found : compared.found[rank]) {
            CHECK(found.author == kLiar);
            CHECK(group::is_proven(found, kOccasion, is_signed));
        }
    }
}

TEST_CASE("STM-3: who shows no evidence hides none that another honest rank has") {
    for (const std::uint32_t silent : {1U, 2U, 3U, kLiar}) {
        CAPTURE(silent);
        Group group = two_are_told();
        group.shows[silent] = [](const Bytes&) { return list_of({}); };
        CHECK(group.compare().has(0, kLiar));
    }
}

TEST_CASE("STM-3: what was told alike in an earlier run of the segment hides nothing that was told in this one") {
    const auto message = message_of(1, 3);
    Group group = two_are_told();
    for (const std::uint32_t rank : {1U, 2U}) {
        const auto value = static_cast<std::uint8_t>(rank);
        group.earlier[rank] = {told_of(message, {.value = value, .session = hash_of(8)})};
    }
    const Compared compared = group.compare();
    CHECK(compared.has(0, kLiar));
    CHECK(compared.has(1, kLiar));
}

TEST_CASE("STM-3: a rank that is told two values itself shows both") {
    const auto message = message_of(1, 3);
    Group group;
    group.told[3] = {told_of(message, {.value = 1}), told_of(message, {.value = 2})};
    const Compared compared = group.compare();
    for (std::uint32_t rank = 0; rank < kLiar; ++rank) {
        CHECK(compared.has(rank, kLiar));
    }
}

TEST_CASE("STM-3: what is told of one thing is compared whatever else the messages say, and in whatever order") {
    const auto one = message_of(1, 3);
    for (const std::uint8_t value : {std::uint8_t{0}, std::uint8_t{1}}) {
        CAPTURE(static_cast<int>(value));
        Group group;
        group.told[1] = {told_of(one, {.value = 0})};
        group.told[2] = {told_of(message_around(*one, false), {.value = value})};
        const Compared compared = group.compare();
        CHECK(compared.has(0, kLiar) == (value != 0));
        CHECK(compared.has(1, kLiar) == (value != 0));
        CHECK(compared.has(2, kLiar) == (value != 0));
    }
}

TEST_CASE("STM-3: a message that says one thing twice contradicts itself if it says it otherwise") {
    for (const std::uint8_t value : {std::uint8_t{0}, std::uint8_t{1}}) {
        CAPTURE(static_cast<int>(value));
        Group group;
        const auto inner = message_of(1, 3);
        const Told twice = told_of(message_around(*inner, true), {.value = value});
        group.told[2] = {twice};
        CHECK(group.compare().has(0, kLiar) == (value != 0));
        group.told[2] = {told_of(inner, {.value = 0}), twice};  // the first one is as `twice` begins
        CHECK(group.compare().has(0, kLiar) == (value != 0));
    }
}

TEST_CASE("STM-3: of several that equivocate all are found, each once") {
    Group group = two_are_told();
    const auto message = message_of(2, 1);
    group.told[1].push_back(told_of(message, {.author = 3, .value = 1}));
    group.told[0].push_back(told_of(message, {.author = 3, .value = 2}));
    const Compared compared = group.compare();
    CHECK(compared.has(0, kLiar));
    CHECK(compared.has(0, 3));
    CHECK(compared.has(2, 3));
    CHECK_FALSE(compared.has(3, 3));
    CHECK(compared.has(3, kLiar));
}

TEST_CASE("STM-3: evidence is proven by two signatures of this task, session and segment, and by nothing less") {
    const auto message = message_of(1, 3);
    const Told one = told_of(message, {.value = 1});
    const Told other = told_of(message, {.value = 2});
    const Equivocation right = evidence_of(one, other, 2);
    CHECK(group::is_proven(right, kOccasion, is_signed));
    CHECK(codec::encode(right).size() <= group::kEquivocationBytesMax);

    const auto is_refused = [&](const Equivocation& shown) { return !group::is_proven(shown, kOccasion, is_signed); };
    CHECK(is_refused(evidence_of(one, other, 1)));  // the same value
    CHECK(is_refused(evidence_of(one, one, 2)));
    Equivocation altered = right;
    altered.author = 1;  // who has signed neither
    CHECK(is_refused(altered));
    altered = right;
    altered.other_signature = altered.one_signature;
    CHECK(is_refused(altered));
    altered = right;
    altered.other.piece.values = hash_of(9);
    CHECK(is_refused(altered));
    altered = right;
    altered.other.path.pop_back();
    CHECK(is_refused(altered));
    altered = right;
    altered.one.statement.root = hash_of(9);
    CHECK(is_refused(altered));
    altered = right;
    altered.other.piece.row += 1;
    CHECK(is_refused(altered));
    const std::vector<std::pair<Saying, Saying>> others{
        {{.value = 1, .session = hash_of(8)}, {.value = 2, .session = hash_of(8)}},  // another run of the segment
        {{.value = 1, .before = hash_of(8)}, {.value = 2, .before = hash_of(8)}},    // another segment
        {{.value = 1, .task = hash_of(8)}, {.value = 2, .task = hash_of(8)}},        // another task
        {{.value = 1, .step = kFirstStep - 1}, {.value = 2, .step = kFirstStep - 1}},
        {{.value = 1}, {.value = 2, .session = hash_of(8)}},  // a run, and the next one
        {{.value = 1}, {.value = 2, .step = kFirstStep + 1}},
        {{.value = 1}, {.author = 1, .value = 2}}};
    for (std::size_t i = 0; i < others.size(); ++i) {
        CAPTURE(i);
        CHECK(is_refused(evidence_of(told_of(message, others[i].first), told_of(message, others[i].second), 2)));
    }
}

TEST_CASE("STM-3: the longest evidence has the length that a rank makes room for") {
    Equivocation longest;
    for (dispute::StatedPiece* const stated : {&longest.one, &longest.other}) {
        stated->piece.part = canonical::PartRange{};
        stated->path.assign(32, Hash256{});
    }
    CHECK(codec::encode(longest).size() == group::kEquivocationBytesMax);
}

TEST_CASE("STM-3: false evidence convicts nobody, ends nobody's session and hides nothing") {
    const auto message = message_of(1, 3);
    const Told honest = told_of(message, {.author = 1, .value = 1});
    const Told forged = [&] {
        Told out = told_of(message, {.author = kLiar, .value = 2});  // who signs for rank 1
        out.author = 1;
        return out;
    }();
    const Equivocation slander = evidence_of(honest, forged, 2);
    Equivocation nobody = slander;
    nobody.author = kRanks;
    std::vector<Equivocation> many(kRanks, slander);
    many.back() = nobody;
    const std::vector<Bytes> all{Bytes{},           Bytes{1},     Bytes(100, 0xff), list_of({slander}),
                                 list_of({nobody}), list_of(many)};
    for (std::size_t i = 0; i < all.size(); ++i) {
        CAPTURE(i);
        for (const bool lies : {false, true}) {
            Group group = lies ? two_are_told() : Group{};
            group.shows[3] = [&, i](const Bytes&) { return all[i]; };
            const Compared compared = group.compare();
            for (std::uint32_t rank = 0; rank < kRanks; ++rank) {
                CAPTURE(rank);
                CHECK_FALSE(compared.errors[rank].has_value());
                const bool learns = lies && rank != kLiar;
                CHECK(compared.found[rank].size() == (learns ? 1 : 0));
                CHECK(compared.has(rank, kLiar) == learns);
            }
        }
    }
}

TEST_CASE("STM-3: who shows more evidence than there are ranks ends the session, and is named") {
    for (const std::size_t more : {0U, 1U}) {
        Group group;
        group.shows[3] = [&](const Bytes&) {
            return Bytes(sizeof(std::uint32_t) + kRanks * group::kEquivocationBytesMax + more);
        };
        const Compared compared = group.compare();
        for (std::uint32_t rank = 0; rank < 3; ++rank) {
            REQUIRE(compared.errors[rank].has_value() == (more != 0));
            if (more != 0) {
                CHECK(compared.errors[rank]->rank() == 3);
                CHECK(compared.errors[rank]->fault() == engine::RankFault::kOtherLength);
            }
        }
    }
}
