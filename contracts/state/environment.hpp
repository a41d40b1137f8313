// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <core/base/bytes.hpp>
#include <core/base/fields.hpp>

/// The software in which a worker runs: what a task asks for, and what a worker says of itself (ENV rules).
namespace assay::contracts {

inline constexpr std::size_t kMaxLabels = 8;
inline constexpr std::size_t kMaxLabelBytes = 64;    ///< of one label
inline constexpr std::size_t kMaxLabelsBytes = 256;  ///< of all labels of an environment together

/// ENV-1: a container image and labels. The chain cannot see where a worker runs: this is a claim.
struct Environment {
    std::optional<Hash256> image;     ///< SHA-256 of the OCI image's manifest
    std::vector<std::string> labels;  ///< "key=value", in ascending order
    bool operator==(const Environment&) const = default;
    static constexpr auto fields() { return Fields<&Environment::image, &Environment::labels>{}; }
};

/// ENV-1: whether it names an image or a label, and its labels are printable, in order, and within the limits.
bool is_sound(const Environment& environment) noexcept;

/// ENV-2: whether `stated` has the image and every label that `asked` names.
bool satisfies(const Environment& stated, const Environment& asked) noexcept;
/// The same for what a worker states, if it states anything, and what a task asks for, if it asks for anything.
bool satisfies(const std::optional<Environment>& stated, const std::optional<Environment>& asked) noexcept;

/// ENV-3: the largest number of fingerprints of an environment.
inline constexpr std::size_t kMaxOffers = kMaxLabels + 1;
/// ENV-3: for the image and for each label the first 8 bytes, as a u64, of "assay/environment" over its text; in
/// ascending order, each once. None if there is no environment.
std::vector<std::uint64_t> fingerprints(const std::optional<Environment>& environment) noexcept;
/// ENV-3: whether `offers` has every one of the `wanted` fingerprints; both in ascending order.
bool has_offers(const std::vector<std::uint64_t>& offers, const std::vector<std::uint64_t>& wanted) noexcept;

}  // namespace assay::contracts
