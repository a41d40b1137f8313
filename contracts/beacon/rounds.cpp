// SPDX-License-Identifier: Apache-2.0
#include <contracts/beacon/rounds.hpp>

#include <core/codec/borsh.hpp>
#include <core/crypto/hash.hpp>

namespace assay::contracts {

namespace {

struct SeedName {
    Hash256 previous;
    std::uint64_t number = 0;
    Hash256 block_hash;
    std::vector<Contribution> contributions;
    static constexpr auto fields() {
        return Fields<&SeedName::previous, &SeedName::number, &SeedName::block_hash, &SeedName::contributions>{};
    }
};

}  // namespace

Hash256 round_seed(
    const Hash256& previous, std::uint64_t number, const Hash256& block_hash,
    const std::vector<Contribution>& contributions
) {
    static const crypto::TaggedHash kTag("assay/round");  // BCN-7
    return kTag(codec::encode(SeedName{previous, number, block_hash, contributions}));
}

void record_round(Context& context, Task& task, const ClosedRound& round) {
    record(context, task, history::RoundClosed{round.number, round.seed, round.contributors, round.withheld});
}

}  // namespace assay::contracts
