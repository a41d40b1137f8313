// SPDX-License-Identifier: Apache-2.0
#include <node/daemon/config.hpp>
#include <tests/fuzz/fuzz.hpp>

namespace assay::fuzz {

void run(ByteView input) {
    node::Config config;
    try {
        node::apply_toml(config, as_text(input), "fuzz");
    } catch (const node::ConfigError&) {
        return;
    }
    ASSERT(config.block_interval_ms >= 1 && config.mempool_txs_max >= 1 && config.mempool_bytes_max >= 1);
    node::Config again = config;
    node::apply_toml(again, as_text(input), "fuzz");
    ASSERT(again.rpc_port == config.rpc_port && again.rpc_address == config.rpc_address);
}

}  // namespace assay::fuzz
