// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <filesystem>
#include <sstream>
#include <utility>

#include <tests/fuzz/fuzz.hpp>
#include <tests/fuzz/stated_messages.hpp>
#include <verifier/group/comparison.hpp>

/// What a rank was told, as it is read back from a file, and what other ranks say that they were told.
namespace assay::fuzz {
namespace {

constexpr std::uint64_t kFirstStep = 3;
constexpr std::uint32_t kAuthor = 2;

void check_file(ByteView input) {
    std::istringstream file{std::string(as_text(input))};
    const auto all = group::read_told(file, input.size());
    for (const auto& told : all) {
        ASSERT(!told->values.empty() && told->values.size() == told->message->pieces.size());
        for (const std::size_t index : {std::size_t{0}, told->values.size() - 1}) {
            const dispute::StatedPiece stated = told->stated(index);
            ASSERT(stated.statement.pieces == told->values.size() && stated.piece == told->piece(index));
        }
    }
    if (const auto found = group::find_equivocation(all)) {
        ASSERT(found->one.piece.values != found->other.piece.values);
        ASSERT(found->one.statement.step == found->other.statement.step);
    }
}

/// Ranks 1 and 2 of three. The input is what rank 1 shows of what it was told; rank 2 shows nothing.
class Showing final : public engine::Collective {
  public:
    explicit Showing(ByteView input) : left_(input) {}
    std::uint32_t rank() const override { return 0; }
    std::uint32_t size() const override { return 3; }
    void settle() override {}
    std::vector<Bytes> exchange(std::vector<Bytes>, const std::vector<std::uint64_t>& expected, std::uint32_t)
        override {
        if (expected[1] > left_.size()) {
            throw engine::RankError(1, engine::RankFault::kGone, "rank 1 is gone");
        }
        const ByteView out = left_.first(expected[1]);
        left_ = left_.subspan(expected[1]);
        // Rank 2 has no lines. Then it sends lists without entries, and before each but its lines the list's length.
        Bytes nothing(expected[2]);
        if (expected[2] == sizeof(std::uint64_t) && std::exchange(has_lengths_, true)) {
            nothing = codec::encode(std::uint64_t{sizeof(std::uint32_t)});
        }
        return {{}, {out.begin(), out.end()}, std::move(nothing)};
    }

  private:
    ByteView left_;
    bool has_lengths_ = false;
};

/// What rank 0 was told by rank 2, and keeps in files until the end.
struct Heard {
    std::filesystem::path directory =
        std::filesystem::temp_directory_path() / ("assay-fuzz-told-" + std::to_string(::getpid()));
    group::Ledger ledger{directory, std::uint64_t{1} << 30U};
    group::Heard heard;

    Heard() {
        const dispute::Statement occasion{
            .task = {}, .before = {}, .session = {}, .step = kFirstStep, .pieces = 0, .root = {}};
        for (const auto& message : stated_messages()) {
            const group::Told told = told_of(kAuthor, occasion, message, Bytes(message->bytes, 1));
            ledger.add(kFirstStep, told);
            heard.add(told);
        }
    }
    ~Heard() { std::filesystem::remove_all(directory); }
};

void check_comparison(ByteView input) {
    static const Heard kHeard;
    Showing links(input);
    const auto is_signed = [](std::uint32_t author, const dispute::Statement& statement, const Signature& signature) {
        const Hash256 digest = dispute::statement_digest(kGroupChain, statement);
        return crypto::verify_signature(member_key(author).account(), digest.view(), signature);
    };
    const group::Occasion occasion{.task = {}, .before = {}, .session = {}, .first_step = kFirstStep};
    try {
        for (const group::Equivocation& found : kHeard.heard.compare(links, kHeard.ledger, occasion, is_signed)) {
            // Only what its author has signed convicts it, and rank 1 signs for nobody.
            ASSERT(found.author == kAuthor);
            ASSERT(is_signed(found.author, found.one.statement, found.one_signature));
            ASSERT(is_signed(found.author, found.other.statement, found.other_signature));
            ASSERT(dispute::check_equivocation(found.one, found.other).has_value());
        }
    } catch (const engine::RankError& error) {
        ASSERT(error.rank() == 1);
    }
}

/// What a rank shows as evidence, by somebody who says that everybody has signed everything.
void check_evidence(ByteView input) {
    const auto shown = codec::decode<group::Equivocation>(input);
    if (!shown) {
        return;
    }
    std::uint32_t asked = 0;
    const auto is_signed = [&](std::uint32_t author, const dispute::Statement&, const Signature&) {
        ASSERT(author == shown->author);
        ++asked;
        return true;
    };
    const group::Occasion occasion{.task = {}, .before = {}, .session = {}, .first_step = kFirstStep};
    if (group::is_proven(*shown, occasion, is_signed)) {
        ASSERT(asked == 2 && input.size() <= group::kEquivocationBytesMax);
        ASSERT(dispute::check_equivocation(shown->one, shown->other).has_value());
        for (const dispute::StatedPiece* stated : {&shown->one, &shown->other}) {
            ASSERT(group::is_of(stated->statement, occasion));
        }
    }
}

}  // namespace

void run(ByteView input) {
    check_file(input);
    check_comparison(input);
    check_evidence(input);
}

}  // namespace assay::fuzz
