// SPDX-License-Identifier: Apache-2.0
#include <verifier/worker/relays.hpp>

#include <verifier/stores/location.hpp>

namespace assay::worker {
namespace {

std::string location_at(const std::string& relay, Mode mode, const AccountId& account) {
    return stores::encode_location(stores::RelayLocation{
        .relay = relay, .service = {.name = to_string(mode), .account = account}});
}

/// Whether nobody but this machine connects to the address, or it is none that others could be told.
bool is_for_nobody(const std::string& address) {
    return address.starts_with("127.") || address == "::1" || address == "0.0.0.0" || address == "::";
}

}  // namespace

std::string Relays::locations(const WorkerOptions& options, const AccountId& account, const std::string& server_url) {
    std::string out;
    for (const std::string& relay : options.relays) {
        out += (out.empty() ? "" : " ") + location_at(relay, options.mode, account);
    }
    if (out.empty() || !is_for_nobody(options.listen_address)) {
        out += (out.empty() ? "" : " ") + server_url;
    }
    return out;
}

Relays::Relays(
    const WorkerOptions& options, const crypto::SecretKey& key, artifacts::ArtifactServer& server, Reporter& reporter,
    WorkerMetrics* metrics
) {
    for (const std::string& relay : options.relays) {
        const auto tell = [&reporter, metrics, relay,
                           location = location_at(relay, options.mode, key.account())](const std::string& trouble) {
            if (metrics != nullptr) {
                metrics->set_relay(relay, trouble.empty());
            }
            if (trouble.empty()) {
                reporter.notice(
                    "others can fetch at " + location,
                    {{"event", "relay"}, {"relay", relay}, {"registered", true}, {"location", location}}
                );
            } else {
                std::string text = "nobody can fetch through the relay " + relay;
                text.append(", trying again: ").append(trouble);
                reporter.notice(
                    text, {{"event", "relay"}, {"relay", relay}, {"registered", false}, {"reason", trouble}}
                );
            }
        };
        links_.push_back(std::make_unique<relay::RelayLink>(
            relay::LinkOptions{.relay = relay, .name = to_string(options.mode), .key = key},
            [&server](int family, int fd) { server.serve(family, fd); }, tell
        ));
    }
}

}  // namespace assay::worker
