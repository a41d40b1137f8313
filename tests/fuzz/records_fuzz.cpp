// SPDX-License-Identifier: Apache-2.0
#include <contracts/chain/chain.hpp>
#include <contracts/state/state.hpp>
#include <tests/fuzz/fuzz.hpp>

/// Everything that the state stores and that nodes hand to clients; the first byte chooses the type.
namespace assay::fuzz {
namespace {

template <class... Ts>
void choose(std::size_t choice, ByteView input) {
    std::size_t i = 0;
    ((i++ == choice % sizeof...(Ts) ? static_cast<void>(round_trip<Ts>(input)) : static_cast<void>(0)), ...);
}

}  // namespace

void run(ByteView input) {
    if (!input.empty()) {
        choose<
            contracts::Task, contracts::Checkpoint, contracts::Dispute, contracts::Committee, contracts::Account,
            contracts::Stake, contracts::Params, contracts::HistoryRecord, contracts::Genesis, contracts::Receipt,
            dispute::Claim, contracts::Beacon, contracts::Drawing>(input[0], input.subspan(1));
    }
}

}  // namespace assay::fuzz
