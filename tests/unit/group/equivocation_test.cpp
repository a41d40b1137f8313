// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include <core/crypto/keys.hpp>
#include <tests/unit/group/group_runs.hpp>
#include <verifier/group/equivocation.hpp>

using namespace assay;
using namespace assay::group::testing;
using adversary::Misstatement;

namespace {

std::vector<std::shared_ptr<const group::Told>> all_told(const GroupRun& run, std::uint32_t but) {
    std::vector<std::shared_ptr<const group::Told>> out;
    for (std::uint32_t rank = 0; rank < run.ledgers.size(); ++rank) {
        const auto told = run.ledgers[rank]->told(0);
        out.insert(out.end(), told.begin(), rank == but ? told.begin() : told.end());
    }
    return out;
}

GroupRun run_liar(std::uint32_t liar, Misstatement kind) {
    Doubles doubles;
    doubles.misstated[liar] = {.kind = kind, .first_step = 1, .last_step = 1};
    return run_group(small_mlp(), *plan::decode_layout("dp2tp2", 4), 2, doubles);
}

}  // namespace

TEST_CASE("STM-7: two values for one piece are found in what two ranks were told, and in nothing that is honest") {
    for (const std::uint32_t liar : {0U, 1U, 2U}) {
        CAPTURE(liar);
        const GroupRun run = run_liar(liar, Misstatement::kEquivocate);
        const auto found = group::find_equivocation(all_told(run, liar));
        REQUIRE(found.has_value());
        CHECK(found->author == liar);
        CHECK(dispute::check_equivocation(found->one, found->other).has_value());
        const group::Signers signers = signers_of(4);
        const auto is_signed = [&](const dispute::StatedPiece& stated, const Signature& signature) {
            const Hash256 digest = dispute::statement_digest(signers.chain_id, stated.statement);
            return crypto::verify_signature(signers.accounts[liar], digest.view(), signature);
        };
        CHECK(is_signed(found->one, found->one_signature));
        CHECK(is_signed(found->other, found->other_signature));
        for (const auto& ledger : run.ledgers) {
            CHECK_FALSE(group::find_equivocation(ledger->told(0)).has_value());  // each was told one of them
        }
    }
    constexpr std::uint32_t kNobody = 4;
    // Who tells everybody the same wrong thing has not equivocated, and neither have those whom it has misled.
    CHECK_FALSE(group::find_equivocation(all_told(run_liar(1, Misstatement::kShard), kNobody)).has_value());
    const GroupRun honest = run_group(small_mlp(), *plan::decode_layout("dp2tp2", 4), 2);
    CHECK_FALSE(group::find_equivocation(all_told(honest, kNobody)).has_value());
}

TEST_CASE("STM-7, STM-3: whoever begins a session again with other values has not equivocated") {
    const GroupRun lied = run_liar(1, Misstatement::kShard);
    const GroupRun honest = run_group(small_mlp(), *plan::decode_layout("dp2tp2", 4), 2);
    constexpr std::uint32_t kNobody = 4;
    auto both = all_told(lied, kNobody);
    const auto again = all_told(honest, kNobody);
    both.insert(both.end(), again.begin(), again.end());
    CHECK_FALSE(group::find_equivocation(both).has_value());
}

TEST_CASE("STM-3, STM-7: at the end of a segment all ranks learn who told two of them different things") {
    std::uint32_t lied = 0;
    for (const std::uint32_t liar : {0U, 1U, 2U, 3U}) {
        for (const char* layout : {"dp2tp2", "zero1+tp2", "tp2pp2", "zero3+tp2"}) {
            CAPTURE(liar);
            CAPTURE(std::string(layout));
            Doubles doubles;
            doubles.misstated[liar] = {.kind = Misstatement::kEquivocate, .first_step = 1, .last_step = 1};
            doubles.ends = true;
            const GroupRun run = run_group(small_mlp(), *plan::decode_layout(layout, 4), 2, doubles);
            // Who tells no two ranks the same tells one of them something wrong instead.
            const bool has_lied = group::find_equivocation(all_told(run, liar)).has_value();
            lied += has_lied ? 1U : 0U;
            const group::Signers signers = signers_of(4);
            for (std::uint32_t rank = 0; rank < 4; ++rank) {
                CAPTURE(rank);
                CHECK(run.failures[rank].empty());
                CHECK(run.findings[rank].size() == (has_lied && rank != liar ? 1 : 0));
                for (const group::Finding& finding : run.findings[rank]) {
                    CHECK(finding.member == signers.accounts[liar]);
                    CHECK(finding.evidence.author == liar);
                    CHECK(dispute::check_equivocation(finding.evidence.one, finding.evidence.other).has_value());
                }
            }
        }
    }
    CHECK(lied > 8);
}

TEST_CASE("STM-3: a lead that was told neither of two values learns of them before the segment has ended") {
    constexpr std::uint32_t kRanks = 4;
    constexpr std::uint32_t kLiar = 3;
    constexpr std::uint64_t kStep = 5;
    auto message = std::make_shared<plan::MessagePieces>();
    plan::MessagePiece& piece = message->pieces.emplace_back();
    piece.rows = 1;
    piece.cols = 1;
    piece.width = 4;
    message->bytes = 4;
    const test::TemporaryDirectory directory;
    auto links = engine::connect_threads(kRanks);
    std::vector<std::set<AccountId>> found(kRanks);
    std::vector<std::jthread> threads;
    for (std::uint32_t rank = 0; rank < kRanks; ++rank) {
        threads.emplace_back([&, rank] {
            group::SignedCollective collective(
                std::move(links[rank]), signers_of(kRanks), key_of(rank),
                std::make_shared<group::Ledger>(directory.path() / std::to_string(rank), 1U << 20U),
                [](const Hash256&, std::uint64_t) { return true; }
            );
            collective.begin_segment({}, kStep);
            collective.begin_step(kStep);
            engine::Contents contents{.to = {kRanks, nullptr}, .from = {kRanks, nullptr}};
            std::vector<Bytes> to(kRanks);
            std::vector<std::uint64_t> expected(kRanks);
            for (const std::uint8_t told : {std::uint8_t{1}, std::uint8_t{2}}) {
                if (rank == kLiar) {
                    contents.to[told] = message;
                    to[told] = Bytes(4, told);
                } else if (rank == told) {
                    contents.from[kLiar] = message;
                    expected[kLiar] = 4;
                }
            }
            collective.exchange_stated(std::move(to), expected, 1, contents);
            collective.end_segment();
            found[rank] = collective.findings()->members();
        });
    }
    threads.clear();
    const AccountId liar = signers_of(kRanks).accounts[kLiar];
    CHECK(found[0] == std::set<AccountId>{liar});
    CHECK(found[1] == std::set<AccountId>{liar});
    CHECK(found[2] == std::set<AccountId>{liar});
    CHECK(found[kLiar].empty());
}

TEST_CASE("STM-7: nothing is found where nobody equivocates, and a segment that begins has the one before compared") {
    Doubles doubles;
    doubles.ends = true;
    const GroupRun honest = run_group(small_mlp(), *plan::decode_layout("dp2tp2", 4), 2, doubles);
    CHECK(honest.costs[1].compared == 1);
    doubles.misstated[1] = {.kind = Misstatement::kShard, .first_step = 1, .last_step = 1};
    const GroupRun lied = run_group(small_mlp(), *plan::decode_layout("dp2tp2", 4), 2, doubles);
    for (const GroupRun* run : {&honest, &lied}) {
        for (const auto& findings : run->findings) {
            CHECK(findings.empty());
        }
    }
    Doubles two;
    two.more_steps = 1;  // of a second segment, whose beginning ends the first
    two.misstated[2] = {.kind = Misstatement::kEquivocate, .first_step = 1, .last_step = 1};
    const GroupRun run = run_group(small_mlp(), *plan::decode_layout("dp2tp2", 4), 2, two);
    CHECK(run.costs[0].compared == 1);
    CHECK(std::any_of(run.findings.begin(), run.findings.end(), [](const auto& each) { return !each.empty(); }));
}
