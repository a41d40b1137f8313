// SPDX-License-Identifier: Apache-2.0
#include <tools/demo/surroundings.hpp>

#include <variant>

#include <tools/demo/nat_cast.hpp>
#include <tools/demo/private_cast.hpp>
#include <tools/demo/store_cast.hpp>

namespace assay::demo {

bool has_surroundings(const DemoOptions& options) {
    return options.store || options.chaos || options.nat || options.is_private;
}

std::unique_ptr<Surroundings> make_surroundings(
    const DemoOptions& options, const std::filesystem::path& bin, const std::filesystem::path& home, Network& network,
    Narrator& narrator
) {
    if (options.is_private) {
        return std::make_unique<PrivateCast>(options, home, network, narrator);
    }
    if (options.nat) {
        return std::make_unique<NatCast>(options, bin, home, network, narrator);
    }
    return has_surroundings(options) ? std::make_unique<StoreCast>(options, bin, home, network, narrator) : nullptr;
}

std::uint64_t losses_of(const Act& act) {
    std::uint64_t out = 0;
    for (const contracts::HistoryRecord& record : act.story->records()) {
        if (const auto* slashed = std::get_if<contracts::history::Slashed>(&record.event)) {
            out += slashed->amount.grains;
        } else if (const auto* closed = std::get_if<contracts::history::RoundClosed>(&record.event)) {
            for (const contracts::history::Withheld& withheld : closed->withheld) {
                out += withheld.burned.grains;
            }
        }
    }
    return out;
}

}  // namespace assay::demo
