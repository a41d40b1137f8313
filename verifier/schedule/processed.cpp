// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <vector>

#include <core/base/assert.hpp>
#include <verifier/schedule/choose.hpp>

namespace assay::schedule {
namespace {

// Of a machine's processor, or its share of the host's, for a byte that it sends and one that it receives.
double seconds_of_bytes(const std::vector<Machine>& machines, const Machine& self) {
    const double both = 2.0 * self.overhead.byte_s;
    if (self.host.empty() || self.cores <= 0.0) {
        return both;
    }
    const auto sharing =
        std::count_if(machines.begin(), machines.end(), [&](const Machine& other) { return other.host == self.host; });
    return both * std::max(1.0, static_cast<double>(sharing) / self.cores);
}

}  // namespace

Network as_processed(const Network& network, const std::vector<Machine>& machines) {
    ASSERT(machines.size() == network.size());
    std::vector<double> seconds;
    seconds.reserve(machines.size());
    for (const Machine& machine : machines) {
        seconds.push_back(seconds_of_bytes(machines, machine));
    }
    const double of_shared = static_cast<double>(machines.size()) / network.shared_bytes_per_s();
    Network out = network;
    for (std::uint32_t a = 0; a < machines.size(); ++a) {
        for (std::uint32_t b = 0; b < a; ++b) {
            Link link = network.between(a, b);
            link.bytes_per_s = 1.0 / std::max({1.0 / link.bytes_per_s, seconds[a], seconds[b], of_shared});
            out.set(a, b, link);
        }
    }
    return out;
}

}  // namespace assay::schedule
