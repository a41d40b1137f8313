// SPDX-License-Identifier: Apache-2.0
#include <verifier/launcher/image.hpp>

#include <nlohmann/json.hpp>

#include <verifier/launcher/statement.hpp>

namespace assay::launcher {
namespace {

using Json = nlohmann::json;

constexpr std::size_t kIdDigits = 64;

/// The digest behind the last "@" of a reference, or the text itself; nothing if that is no digest by SHA-256.
std::optional<Hash256> digest_in(const Json& value) {
    if (!value.is_string()) {
        return std::nullopt;
    }
    const std::string text = value.get<std::string>();
    const std::size_t at = text.rfind('@');
    try {
        return decode_digest(at == std::string::npos ? text : text.substr(at + 1));
    } catch (const StatementError&) {
        return std::nullopt;
    }
}

Image decode_image(const Json& json) {
    Image out;
    out.id = json.value("Id", std::string());
    if (!fixed_from_hex<Hash256>(out.id) || out.id.size() != kIdDigits) {
        throw ImageError("podman has answered without the id of an image; is `podman --version` 4 or later?");
    }
    if (const auto digest = digest_in(json.value("Digest", Json()))) {
        out.digests.insert(*digest);
    }
    // Podman writes null where there is none.
    if (const Json names = json.value("RepoDigests", Json()); names.is_array()) {
        for (const Json& name : names) {
            if (const auto digest = digest_in(name)) {
                out.digests.insert(*digest);
            }
        }
    }
    if (const Json labels = json.value("Labels", Json()); labels.is_object()) {
        for (const auto& [key, value] : labels.items()) {
            if (value.is_string()) {
                out.labels.emplace(key, value.get<std::string>());
            }
        }
    }
    return out;
}

Json decode_array(const std::string& text) {
    Json json = Json::parse(text, nullptr, false);
    if (!json.is_array()) {
        throw ImageError("podman has answered with something else than a list of images in JSON");
    }
    return json;
}

std::vector<Image> decode_images(const std::string& text) {
    std::vector<Image> out;
    try {
        for (const Json& item : decode_array(text)) {
            out.push_back(decode_image(item));
        }
    } catch (const Json::exception&) {
        throw ImageError("podman has answered with members of an image that have unknown types");
    }
    return out;
}

}  // namespace

std::vector<Image> decode_list(const std::string& json) { return decode_images(json); }

Image decode_inspection(const std::string& json) {
    std::vector<Image> images = decode_images(json);
    if (images.size() != 1) {
        throw ImageError("podman has described " + std::to_string(images.size()) + " images instead of one");
    }
    return images.front();
}

void check_image(const Image& image, const contracts::Environment& environment) {
    if (environment.image && !image.digests.contains(*environment.image)) {
        throw ImageError("image " + image.id + " is not the one with digest " + digest_text(*environment.image));
    }
    for (const std::string& label : environment.labels) {
        const std::size_t equals = label.find('=');
        const auto found = image.labels.find(label.substr(0, equals));
        if (found == image.labels.end()) {
            throw ImageError("the image has no label " + label.substr(0, equals) + ", and " + label + " was asked for");
        }
        if (found->second != label.substr(equals + 1)) {
            throw ImageError(
                "the image's label is " + found->first + "=" + found->second + ", and " + label + " was asked for"
            );
        }
    }
}

}  // namespace assay::launcher
