// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace assay::ui {

/// What one sensor says.
struct Reading {
    std::string name;  ///< such as "coretemp Package id 0" or "NVIDIA H200"
    double celsius = 0;
    bool is_gpu = false;
};

/// Returns the temperatures that Linux's hwmon shows below `root`; none if there are no sensors or no such folder.
std::vector<Reading> read_hwmon(const std::filesystem::path& root = "/sys/class/hwmon");

struct Gpu {
    std::string name;
    std::uint64_t memory_bytes = 0;
    std::optional<double> celsius{};
};

/// NVIDIA's management library (NVML), loaded when the machine has it: no driver shows its GPUs in hwmon.
class Nvml {
  public:
    /// `library` is looked for as dlopen() does. There are no GPUs if it cannot be loaded.
    explicit Nvml(const char* library = "libnvidia-ml.so.1");
    ~Nvml();
    Nvml(const Nvml&) = delete;
    Nvml& operator=(const Nvml&) = delete;
    /// What cannot be read of a GPU is left out.
    std::vector<Gpu> gpus() const;

  private:
    struct Library;
    std::unique_ptr<Library> library_;
};

}  // namespace assay::ui
