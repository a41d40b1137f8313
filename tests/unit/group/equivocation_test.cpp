// SPDX-License-Identifier: Apache-2.0
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
