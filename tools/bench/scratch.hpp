// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>

#include <core/system/temporary_directory.hpp>

namespace assay::bench {

/// A temporary directory; the destructor removes it.
class Scratch : public system::TemporaryDirectory {
  public:
    /// Creates it in `parent`; empty: in the temporary directory.
    explicit Scratch(const std::filesystem::path& parent = {}) : TemporaryDirectory("assay-bench", parent) {}
};

}  // namespace assay::bench
