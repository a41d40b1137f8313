// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include <contracts/state/environment.hpp>
#include <core/base/bytes.hpp>

namespace assay::launcher {

/// An image is not what was asked for, or podman says nothing of it that can be used. what() says what to do.
class ImageError : public std::runtime_error {
  public:
    using std::runtime_error::runtime_error;
};

/// An image as podman has it.
struct Image {
    std::string id;             ///< hex digits; the hash of its configuration, under which it is started
    std::set<Hash256> digests;  ///< SHA-256 of the manifests under which podman has it
    std::map<std::string, std::string> labels;
};

/// The images in the output of `podman images --format json`; of each its `Id`, `Digest` and `RepoDigests`, without
/// labels. Throws ImageError.
std::vector<Image> decode_list(const std::string& json);
/// The image in the output of `podman image inspect`. Throws ImageError.
Image decode_inspection(const std::string& json);

/// Throws ImageError unless the image has the manifest and each of the labels that the environment names; says which
/// is missing.
void check_image(const Image& image, const contracts::Environment& environment);

}  // namespace assay::launcher
