// SPDX-License-Identifier: Apache-2.0
// Takes the place of abci_relay.cpp where ASSAY_WITH_COMETBFT is off.
#include <stdexcept>

#include <tools/demo/abci_relay.hpp>

namespace assay::demo {

AbciRelay::AbciRelay(std::filesystem::path /*own*/, std::filesystem::path /*application*/, std::uint64_t /*count*/) {
    throw std::runtime_error(
        "this fraud needs CometBFT, and this program was built without it (ASSAY_WITH_COMETBFT=OFF)"
    );
}

AbciRelay::~AbciRelay() = default;

}  // namespace assay::demo
