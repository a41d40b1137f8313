// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace assay::economics {

/// A parameter of the chain that no constraint is about, and the reason.
struct Unnamed {
    std::string parameter;
    std::string reason;
};
/// Returns these parameters. Together with those of Constraint::parameter they are all parameters
/// (docs/protocol/parameters.md).
std::vector<Unnamed> unnamed_parameters();

}  // namespace assay::economics
