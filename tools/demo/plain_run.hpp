// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <filesystem>
#include <memory>
#include <string>

#include <core/system/process.hpp>
#include <tools/demo/demo.hpp>

namespace assay::demo {

/// The plain demo of the same seed: the same task on another chain, by workers to whom nothing happens. It runs beside
/// the demo that it is compared with.
class PlainRun {
  public:
    /// Starts it in `home`, with what `options` say about the task.
    PlainRun(const DemoOptions& options, const std::filesystem::path& home);
    /// Waits for its end. Returns the state root of its last checkpoint, as hex digits. Throws std::runtime_error if it
    /// did not end as it should.
    std::string root(std::chrono::minutes patience);

  private:
    std::filesystem::path log_;
    std::string printed_;
    std::unique_ptr<system::Process> process_;
};

}  // namespace assay::demo
