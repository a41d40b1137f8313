// SPDX-License-Identifier: Apache-2.0
#include <verifier/worker/store_options.hpp>

#include <algorithm>
#include <set>
#include <variant>

#include <CLI/CLI.hpp>

#include <verifier/relay/message.hpp>
#include <verifier/stores/location.hpp>
#include <verifier/worker/failure.hpp>

namespace assay::worker {
namespace {

/// CLI11 takes a text that is not empty for an error.
std::string why_not_location(const std::string& text) {
    const auto location = stores::decode_location(text);
    return location ? "" : "\"" + text + "\" is no location: " + to_string(location.error());
}

std::string why_not_published(const std::string& text) {
    const auto location = stores::decode_location(text);
    if (location && (std::holds_alternative<stores::ServerLocation>(*location) ||
                     std::holds_alternative<stores::RelayLocation>(*location))) {
        return "\"" + text + "\" is a server that is only read from: name dir:/PATH, s3://BUCKET or ipfs://";
    }
    return why_not_location(text);
}

}  // namespace

void add_source_options(CLI::App& command, std::vector<std::string>& sources) {
    command
        .add_option(
            "--artifact-source", sources,
            "A location that may have any artifact, asked besides those that the chain names, as in http://host:4000, "
            "dir:/PATH or s3://BUCKET; may be given several times"
        )
        ->check(CLI::Validator([](std::string& text) { return why_not_location(text); }, "LOCATION"));
}

void add_relay_options(CLI::App& command, std::vector<std::string>& relays) {
    command
        .add_option(
            "--relay", relays,
            "HOST:PORT of a relay through which others fetch what this worker has, where nobody can connect to it: it "
            "connects to the relay itself; may be given several times"
        )
        ->check(CLI::Validator(
            [](const std::string& text) {
                return relay::is_relay_name(text) ? std::string()
                                                  : "\"" + text + "\" is no HOST:PORT, as in relay.example.org:4010";
            },
            "HOST:PORT"
        ));
}

void add_publish_options(CLI::App& command, WorkerOptions& options) {
    auto* publish = command
                        .add_option(
                            "--publish", options.publish,
                            "A location that a solver's checkpoints are written to before they are posted, as in "
                            "s3://BUCKET/PREFIX, "
                            "and that others read them from; may be given several times"
                        )
                        ->check(CLI::Validator([](std::string& text) { return why_not_published(text); }, "LOCATION"));
    command
        .add_option(
            "--publish-copies", options.publish_copies,
            "In how many of these locations a checkpoint has to lie before it is posted, for as long as the task's "
            "deadline leaves time; default: two, or one where one is named"
        )
        ->check(CLI::Range(1, 8))
        ->needs(publish);
}

void check_publishing(const WorkerOptions& options) {
    const std::set<std::string> distinct(options.publish.begin(), options.publish.end());
    if (distinct.size() != options.publish.size()) {
        throw UsageError("--publish names a location twice; a second copy has to lie elsewhere");
    }
    if (options.publish_copies.value_or(0) > distinct.size()) {
        throw UsageError(
            "--publish-copies " + std::to_string(*options.publish_copies) +
            " needs as many locations, and --publish "
            "names " +
            std::to_string(distinct.size())
        );
    }
}

std::uint32_t publish_copies(const WorkerOptions& options) {
    constexpr std::uint32_t kDefault = 2;
    const auto locations = static_cast<std::uint32_t>(options.publish.size());
    return options.publish_copies.value_or(std::min(kDefault, locations));
}

}  // namespace assay::worker
