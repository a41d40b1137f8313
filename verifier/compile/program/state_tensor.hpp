// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include <core/base/fields.hpp>
#include <core/canonical/node.hpp>

namespace assay::program {

/// A tensor of the state (a parameter or an optimizer slot), with the name it has in checkpoints.
struct StateTensor {
    std::string name;
    canonical::TensorType type;
    static constexpr auto fields() { return Fields<&StateTensor::name, &StateTensor::type>{}; }
};

}  // namespace assay::program
