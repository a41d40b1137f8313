// SPDX-License-Identifier: Apache-2.0
#include <verifier/cell/ranks.hpp>

#include <algorithm>

#include <verifier/cell/hosts_error.hpp>
#include <verifier/cell/seal.hpp>
#include <verifier/cell/tls_collective.hpp>
#include <verifier/engine/cell/nccl_collective.hpp>

namespace assay::cell {

std::uint32_t prepare_links(const Hosts& hosts, const std::string& name, const std::string& device) {
    if (hosts.links != Links::kNccl) {
        return 0;
    }
    const std::uint32_t gpu = gpu_of(hosts, name, device);
    if (const auto refusal = engine::nccl_refusal(engine::nccl_support(), gpu)) {
        throw HostsError("links = \"nccl\": " + *refusal + R"(, such as links = "tls")");
    }
    engine::prepare_nccl();
    return gpu;
}

std::chrono::milliseconds connect_limit(const Hosts& hosts, std::chrono::milliseconds limit) {
    // Each rank makes two links with each other one, and NCCL takes some tenths of a second for one.
    constexpr std::chrono::milliseconds kNccl{60'000};
    return hosts.links == Links::kNccl ? std::max(limit, kNccl) : limit;
}

std::unique_ptr<engine::Collective> connect_ranks(
    const Hosts& hosts, const std::shared_ptr<engine::SharedWords>& words, const RankOptions& options
) {
    if (hosts.links == Links::kPlain) {
        return engine::connect_gloo(
            words, {.rank = options.rank, .size = options.size, .address = options.address, .timeout = options.timeout}
        );
    }
    if (hosts.links == Links::kNccl) {
        return engine::connect_nccl(
            words, {.rank = options.rank,
                    .size = options.size,
                    .gpu = options.gpu,
                    .connect = options.connect,
                    .timeout = options.timeout}
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
