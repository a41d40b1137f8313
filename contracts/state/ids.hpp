// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include <core/base/bytes.hpp>
#include <core/base/fields.hpp>
#include <core/base/integers.hpp>

/// Names of tasks and disputes, roles, and references to artifacts.
namespace assay::contracts {

using TaskId = FixedBytes<struct TaskIdTag, 32>;
using DisputeId = FixedBytes<struct DisputeIdTag, 32>;

enum class Role : std::uint8_t { kSolver = 1, kVerifier = 2, kWhistleblower = 3, kValidator = 4 };
constexpr bool is_valid(Role r) { return r >= Role::kSolver && r <= Role::kValidator; }
const char* to_string(Role role) noexcept;

/// Where an artifact can be downloaded: its SHA-256 and one URL ("http://127.0.0.1:4000"; GET <url>/artifact/<hex>).
struct ArtifactRef {
    Hash256 sha256;
    std::uint64_t size_bytes = 0;
    std::string location;
    bool operator==(const ArtifactRef&) const = default;
    static constexpr auto fields() {
        return Fields<&ArtifactRef::sha256, &ArtifactRef::size_bytes, &ArtifactRef::location>{};
    }
};
inline constexpr std::size_t kMaxLocationBytes = 256;

}  // namespace assay::contracts
