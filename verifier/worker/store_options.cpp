// SPDX-License-Identifier: Apache-2.0
#include <verifier/worker/store_options.hpp>

#include <variant>

#include <CLI/CLI.hpp>

#include <verifier/stores/location.hpp>

namespace assay::worker {
namespace {

/// CLI11 takes a text that is not empty for an error.
std::string why_not_location(const std::string& text) {
    const auto location = stores::decode_location(text);
    return location ? "" : "\"" + text + "\" is no location: " + to_string(location.error());
}

std::string why_not_published(const std::string& text) {
    const auto location = stores::decode_location(text);
    if (location && std::holds_alternative<stores::ServerLocation>(*location)) {
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

void add_publish_option(CLI::App& command, std::vector<std::string>& locations) {
    command
        .add_option(
            "--publish", locations,
            "A location that a solver's checkpoints are written to before they are posted, as in s3://BUCKET/PREFIX, "
            "and that others read them from; may be given several times"
        )
        ->check(CLI::Validator([](std::string& text) { return why_not_published(text); }, "LOCATION"));
}

}  // namespace assay::worker
