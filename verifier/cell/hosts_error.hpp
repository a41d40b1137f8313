// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stdexcept>

namespace assay::cell {

/// The file of a cell's machines asks for links that this machine cannot make, or another machine of the cell refuses
/// this one, whose file has another secret or other members. Trying again does not help before a file is changed.
class HostsError : public std::runtime_error {
  public:
    using std::runtime_error::runtime_error;
};

}  // namespace assay::cell
