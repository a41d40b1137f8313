// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include <core/canonical/executor.hpp>

/// Small nodes with operands that show what each primitive does with special values.
namespace assay::spec {

struct PrimitiveCase {
    std::string name;
    canonical::Node node;
    canonical::StepContext context;
    std::vector<canonical::Tensor> inputs;
    std::vector<Bytes> rows;  ///< the dataset, if the node reads one
};

/// At least one case of every primitive but commit.
std::vector<PrimitiveCase> primitive_cases();

}  // namespace assay::spec
