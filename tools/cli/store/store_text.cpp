// SPDX-License-Identifier: Apache-2.0
#include <tools/cli/store/store_text.hpp>

#include <algorithm>
#include <array>
#include <cstdio>
#include <iterator>

#include <client/http/http.hpp>
#include <contracts/params/spec.hpp>

namespace assay::cli {
namespace {

Failure wrong_location(const std::string& text, stores::LocationError error) {
    return {
        kExitUsage, "usage", "\"" + text + "\" is no location: " + to_string(error),
        nlohmann::json{{"hint", "as in http://HOST:PORT, dir:/PATH, s3://BUCKET/PREFIX?endpoint=URL or ipfs://CID"}}};
}

int exit_code_of(stores::RefusalKind kind) {
    switch (kind) {
        case stores::RefusalKind::kUnable:
            return kExitUsage;
        case stores::RefusalKind::kCredentials:
            return kExitConfig;
        case stores::RefusalKind::kMissing:
            return kExitNotFound;
        case stores::RefusalKind::kRefused:
            return kExitFailure;
    }
    return kExitFailure;
}

}  // namespace

stores::Location location_argument(const std::string& text) {
    auto location = stores::decode_location(text);
    if (!location) {
        throw wrong_location(text, location.error());
    }
    return *std::move(location);
}

void check_locations(const std::string& text) {
    const auto named = stores::split_locations(text);
    for (const std::string& one : named) {
        static_cast<void>(location_argument(one));
    }
    if (!contracts::is_location(text)) {
        throw Failure(
            kExitUsage, "usage",
            "the locations have " + std::to_string(text.size()) + " characters, of which the chain takes " +
                std::to_string(contracts::kMaxLocationBytes) + ": name fewer or shorter ones"
        );
    }
}

std::unique_ptr<stores::Store> open_argument(const std::string& text) {
    const stores::Location location = location_argument(text);
    try {
        return stores::open_store(location, stores::credentials_of_environment());
    } catch (const stores::StoreRefused&) {
        throw;
    } catch (const std::runtime_error& error) {
        throw Failure(kExitConfig, "credentials", error.what());
    }
}

void with_store(const std::function<void()>& act) {
    try {
        act();
    } catch (const stores::StoreRefused& refused) {
        throw Failure(exit_code_of(refused.kind), "store_refused", refused.what());
    } catch (const http::NetTimeout& late) {
        throw Failure(kExitTimeout, "timeout", late.what(), {{"hint", "the same command may be given again"}});
    } catch (const http::NetError& error) {
        throw Failure(
            kExitUnreachable, "unreachable", error.what(),
            {{"hint", "does the service run at this address? endpoint=, gateway= and api= of a location say where"}}
        );
    }
}

std::string size_text(std::uint64_t bytes) {
    constexpr std::array<const char*, 5> kUnits{"B", "KiB", "MiB", "GiB", "TiB"};
    constexpr double kStep = 1024;
    double value = static_cast<double>(bytes);
    std::size_t unit = 0;
    while (value >= kStep && unit + 1 < kUnits.size()) {
        value /= kStep;
        ++unit;
    }
    std::array<char, 32> text{};
    std::snprintf(text.data(), text.size(), unit == 0 ? "%.0f %s" : "%.1f %s", value, kUnits[unit]);
    return text.data();
}

std::vector<stores::StoredEntry> garbage_among(
    const std::vector<stores::StoredEntry>& entries, std::uint64_t now_s, std::uint64_t age_s,
    const std::vector<Hash256>& only
) {
    std::vector<stores::StoredEntry> out;
    std::copy_if(entries.begin(), entries.end(), std::back_inserter(out), [&](const stores::StoredEntry& entry) {
        const bool is_named = std::find(only.begin(), only.end(), entry.artifact) != only.end();
        // What is named on a location that knows no times is old enough because it is named.
        const bool is_old = entry.written_s ? *entry.written_s + age_s <= now_s : is_named;
        const bool may_go = !entry.is_pinned || !entry.written_s;
        return may_go && is_old && (only.empty() || is_named);
    });
    return out;
}

}  // namespace assay::cli
