// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>

#include <core/base/fields.hpp>
#include <core/canonical/node.hpp>

namespace assay::program {

inline constexpr std::size_t kMaxNameBytes = 512;  ///< PRG-6

/// A state tensor (a parameter or an optimizer slot) with its name in checkpoints.
struct StateTensor {
    std::string name;
    canonical::TensorType type;
    bool operator==(const StateTensor&) const = default;
    static constexpr auto fields() { return Fields<&StateTensor::name, &StateTensor::type>{}; }
};

}  // namespace assay::program
