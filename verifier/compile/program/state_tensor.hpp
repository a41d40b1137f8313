// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include <core/base/fields.hpp>
#include <core/canonical/node.hpp>

namespace assay::program {

/// A state tensor (a parameter or an optimizer slot) with its name in checkpoints.
struct StateTensor {
    std::string name;
    canonical::TensorType type;
    static constexpr auto fields() { return Fields<&StateTensor::name, &StateTensor::type>{}; }
};

}  // namespace assay::program
