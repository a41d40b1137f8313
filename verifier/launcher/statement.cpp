// SPDX-License-Identifier: Apache-2.0
#include <verifier/launcher/statement.hpp>

#include <algorithm>
#include <string_view>
#include <utility>

#include <nlohmann/json.hpp>

#include <core/system/file.hpp>

namespace assay::launcher {
namespace {

constexpr std::string_view kPrefix = "sha256:";
constexpr std::size_t kStatementMax = 4'096;  // bytes of a file

}  // namespace

Hash256 decode_digest(const std::string& text) {
    const bool has_prefix = text.rfind(kPrefix, 0) == 0;
    const std::string digits = has_prefix ? text.substr(kPrefix.size()) : std::string();
    const bool is_lower = std::none_of(digits.begin(), digits.end(), [](char c) { return c >= 'A' && c <= 'F'; });
    const auto digest = is_lower ? fixed_from_hex<Hash256>(digits) : std::nullopt;
    if (!digest) {
        throw StatementError(
            "\"" + text +
            "\" is not the digest of an image: sha256: and 64 hex digits in lower case are needed, as "
            "`podman images --digests` shows them"
        );
    }
    return *digest;
}

std::string digest_text(const Hash256& digest) { return std::string(kPrefix) + to_hex(digest.view()); }

contracts::Environment make_environment(const std::optional<Hash256>& image, std::vector<std::string> labels) {
    std::sort(labels.begin(), labels.end());
    for (const std::string& label : labels) {
        if (!contracts::is_sound({.image = {}, .labels = {label}})) {
            throw StatementError(
                "\"" + label + "\" is not a label: key=value is needed, of at most " +
                std::to_string(contracts::kMaxLabelBytes) + " printable characters without spaces"
            );
        }
    }
    contracts::Environment out{.image = image, .labels = std::move(labels)};
    if (!contracts::is_sound(out)) {
        throw StatementError(
            "an environment needs an image or a label, has each label once, and has at most " +
            std::to_string(contracts::kMaxLabels) + " labels of " + std::to_string(contracts::kMaxLabelsBytes) +
            " characters together"
        );
    }
    return out;
}

std::string statement_text(const contracts::Environment& environment) {
    const nlohmann::ordered_json out = {
        {"image", environment.image ? nlohmann::ordered_json(digest_text(*environment.image)) : nullptr},
        {"labels", environment.labels}};
    return out.dump() + "\n";
}

contracts::Environment decode_statement(const std::string& text) {
    const auto json = nlohmann::json::parse(text, nullptr, false);
    const bool has_members = json.is_object() && json.contains("image") && json.contains("labels");
    if (!has_members || !json.at("labels").is_array() ||
        !(json.at("image").is_null() || json.at("image").is_string())) {
        throw StatementError("is not a statement: {\"image\": \"sha256:...\", \"labels\": [\"key=value\"]} is needed");
    }
    std::vector<std::string> labels;
    for (const auto& label : json.at("labels")) {
        if (!label.is_string()) {
            throw StatementError("has a label that is not a string");
        }
        labels.push_back(label.get<std::string>());
    }
    const auto& image = json.at("image");
    const auto digest = image.is_null() ? std::nullopt : std::optional(decode_digest(image.get<std::string>()));
    return make_environment(digest, std::move(labels));
}

contracts::Environment read_statement(const std::filesystem::path& file) {
    const auto text = system::read_file(file);
    if (!text) {
        throw StatementError("cannot read " + file.string() + ": give the file that `assay-worker run` has written");
    }
    if (text->size() > kStatementMax) {
        throw StatementError(file.string() + " is longer than a statement can be");
    }
    try {
        return decode_statement(*text);
    } catch (const StatementError& error) {
        throw StatementError(file.string() + ": " + error.what());
    }
}

}  // namespace assay::launcher
