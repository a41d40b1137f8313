// SPDX-License-Identifier: Apache-2.0
#include <verifier/ui/sensors.hpp>

#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <system_error>

#include <core/system/file.hpp>

namespace assay::ui {
namespace {

constexpr double kMilli = 1'000;
/// Drivers answer such values for sensors that are not wired.
constexpr double kReadingLeast = -40;
constexpr double kReadingMost = 150;
/// The kernel's drivers of GPUs.
constexpr std::array<std::string_view, 4> kGpuDrivers{"amdgpu", "nouveau", "radeon", "xe"};

std::string first_line(const std::filesystem::path& file) {
    const std::string text = system::read_file(file).value_or("");
    return text.substr(0, text.find('\n'));
}

std::vector<std::filesystem::path> entries_of(const std::filesystem::path& folder) {
    std::vector<std::filesystem::path> out;
    std::error_code none;
    for (const auto& entry : std::filesystem::directory_iterator(folder, none)) {
        out.push_back(entry.path());
    }
    std::sort(out.begin(), out.end());
    return out;
}

std::optional<double> celsius_of(const std::string& text) {
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    const double celsius = static_cast<double>(value) / kMilli;
    const bool is_number = error == std::errc{} && end == text.data() + text.size();
    return is_number && celsius > kReadingLeast && celsius < kReadingMost ? std::optional(celsius) : std::nullopt;
}

}  // namespace

std::vector<Reading> read_hwmon(const std::filesystem::path& root) {
    constexpr std::string_view kInput = "_input";
    std::vector<Reading> out;
    for (const auto& chip : entries_of(root)) {
        const std::string driver = first_line(chip / "name");
        for (const auto& file : entries_of(chip)) {
            const std::string name = file.filename().string();
            if (!name.starts_with("temp") || !name.ends_with(kInput)) {
                continue;
            }
            const auto celsius = celsius_of(first_line(file));
            if (!celsius) {
                continue;
            }
            const std::string sensor = name.substr(0, name.size() - kInput.size());
            const std::string label = first_line(chip / (sensor + "_label"));
            out.push_back(
                {.name = driver + " " + (label.empty() ? sensor : label),
                 .celsius = *celsius,
                 .is_gpu = std::find(kGpuDrivers.begin(), kGpuDrivers.end(), driver) != kGpuDrivers.end()}
            );
        }
    }
    return out;
}

/// The functions of NVML that are used, by their documented signatures.
struct Nvml::Library {
    using Device = void*;
    struct Memory {
        unsigned long long total;
        unsigned long long free;
        unsigned long long used;
    };
    static constexpr int kSuccess = 0;
    static constexpr unsigned kOfGpu = 0;  ///< the only sensor that NVML knows

    void* handle = nullptr;
    int (*init)() = nullptr;
    int (*shutdown)() = nullptr;
    int (*count)(unsigned*) = nullptr;
    int (*device)(unsigned, Device*) = nullptr;
    int (*name)(Device, char*, unsigned) = nullptr;
    int (*temperature)(Device, unsigned, unsigned*) = nullptr;
    int (*memory)(Device, Memory*) = nullptr;

    template <class Function>
    bool find(Function& function, const char* symbol) {
        function = reinterpret_cast<Function>(::dlsym(handle, symbol));
        return function != nullptr;
    }
    bool load(const char* file) {
        handle = ::dlopen(file, RTLD_NOW | RTLD_LOCAL);
        return handle != nullptr && find(init, "nvmlInit_v2") && find(shutdown, "nvmlShutdown") &&
               find(count, "nvmlDeviceGetCount_v2") && find(device, "nvmlDeviceGetHandleByIndex_v2") &&
               find(name, "nvmlDeviceGetName") && find(temperature, "nvmlDeviceGetTemperature") &&
               find(memory, "nvmlDeviceGetMemoryInfo") && init() == kSuccess;
    }
};

Nvml::Nvml(const char* library) : library_(std::make_unique<Library>()) {
    if (!library_->load(library)) {
        if (library_->handle != nullptr) {
            ::dlclose(library_->handle);
        }
        library_.reset();
    }
}

Nvml::~Nvml() {
    if (library_) {
        library_->shutdown();
        ::dlclose(library_->handle);
    }
}

std::vector<Gpu> Nvml::gpus() const {
    std::vector<Gpu> out;
    unsigned count = 0;
    if (!library_ || library_->count(&count) != Library::kSuccess) {
        return out;
    }
    for (unsigned i = 0; i < count; ++i) {
        Library::Device device = nullptr;
        if (library_->device(i, &device) != Library::kSuccess) {
            continue;
        }
        Gpu gpu;
        std::array<char, 96> name{};
        if (library_->name(device, name.data(), name.size() - 1) == Library::kSuccess) {
            gpu.name = name.data();
        }
        unsigned celsius = 0;
        if (library_->temperature(device, Library::kOfGpu, &celsius) == Library::kSuccess) {
            gpu.celsius = celsius;
        }
        Library::Memory memory{};
        if (library_->memory(device, &memory) == Library::kSuccess) {
            gpu.memory_bytes = memory.total;
        }
        out.push_back(std::move(gpu));
    }
    return out;
}

}  // namespace assay::ui
