// SPDX-License-Identifier: Apache-2.0
#include <contracts/chain/chain.hpp>
#include <contracts/transaction/decoded.hpp>
#include <contracts/transaction/transaction.hpp>
#include <tests/fuzz/fuzz.hpp>

namespace assay::fuzz {

void run(ByteView input) {
    const auto tx = round_trip<contracts::Tx>(input);
    const contracts::Params params;
    const auto decoded = contracts::decode_tx(input, contracts::tx_hash(input), params);
    if (!tx) {
        ASSERT(!decoded);
        return;
    }
    ASSERT(contracts::action_name(tx->body.action) != nullptr);
    (void)contracts::signing_hash(tx->body);
    if (!decoded) {
        ASSERT(input.size() > params.tx_size_max);
        return;
    }
    ASSERT(input.size() <= params.tx_size_max && same(codec::encode(decoded->tx), input));
    if (contracts::check_stateless(*decoded, "assay-fuzz")) {
        ASSERT(tx->body.chain_id == "assay-fuzz");
    }
}

}  // namespace assay::fuzz
