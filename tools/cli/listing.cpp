// SPDX-License-Identifier: Apache-2.0
#include <tools/cli/listing.hpp>

#include <algorithm>

namespace assay::cli {

nlohmann::json read_listing(
    const Session& session, const std::string& method, nlohmann::json params, const std::string& name,
    std::uint32_t count
) {
    net::RpcClient rpc = session.rpc();
    nlohmann::json items = nlohmann::json::array();
    nlohmann::json next;
    do {
        params["limit"] = std::min<std::size_t>(100, count - items.size());
        nlohmann::json page = rpc.call(method, params);
        for (auto& item : page.at(name)) {
            items.push_back(std::move(item));
        }
        next = page.at("next_cursor");
        params["cursor"] = next;
    } while (!next.is_null() && items.size() < count);
    return {{name, std::move(items)}, {"next_cursor", next}};
}

}  // namespace assay::cli
