// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>

namespace assay::liability {

/// What `what` returns when a copy of this process runs it: nothing that it does is seen here but its answer. Throws
/// simulation::Broken when the copy dies or takes longer than some minutes.
std::string in_copy(const std::function<std::string()>& what);

}  // namespace assay::liability
