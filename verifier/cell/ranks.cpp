// SPDX-License-Identifier: Apache-2.0
#include <verifier/cell/ranks.hpp>

#include <utility>

#include <verifier/cell/seal.hpp>
#include <verifier/cell/tls_collective.hpp>

namespace assay::cell {

std::unique_ptr<engine::Collective> connect_ranks(
    const Hosts& hosts, std::shared_ptr<engine::SharedWords> words, const RankOptions& options
) {
    if (hosts.are_links_plain) {
        return engine::connect_gloo(
            std::move(words),
            {.rank = options.rank, .size = options.size, .address = options.address, .timeout = options.timeout}
        );
    }
    return connect_tls(
        *words, {.rank = options.rank,
                 .size = options.size,
                 .address = options.address,
                 .key = link_key(hosts.secret, options.session),
                 .connect = options.connect,
                 .timeout = options.timeout}
    );
}

}  // namespace assay::cell
