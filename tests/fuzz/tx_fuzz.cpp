// SPDX-License-Identifier: Apache-2.0
#include <contracts/chain/chain.hpp>
#include <contracts/transaction/transaction.hpp>
#include <tests/fuzz/fuzz.hpp>

namespace assay::fuzz {

void run(ByteView input) {
    const auto tx = round_trip<contracts::Tx>(input);
    const contracts::Params params;
    const auto checked = contracts::check_stateless(input, "assay-fuzz", params);
    if (!tx) {
        ASSERT(!checked);
        return;
    }
    ASSERT(contracts::action_name(tx->body.action) != nullptr);
    (void)contracts::signing_hash(tx->body);
    if (checked) {
        ASSERT(input.size() <= params.tx_size_max && tx->body.chain_id == "assay-fuzz");
        ASSERT(same(codec::encode(*checked), input));
    }
}

}  // namespace assay::fuzz
