// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <memory>
#include <stdexcept>
#include <string>

/// Measuring in processes of their own.
namespace assay::bench {

/// Returns the KiB of this process's memory at its peak so far.
inline long peak_kib() {
    std::ifstream status("/proc/self/status");
    for (std::string line; std::getline(status, line);) {
        if (line.starts_with("VmHWM:")) {
            return std::stol(line.substr(line.find_first_of("0123456789")));
        }
    }
    throw std::runtime_error("/proc/self/status does not tell the peak of memory");
}

/// Runs a shell command and returns what it prints. Throws if it fails.
inline std::string output_of_command(const std::string& command) {
    FILE* const pipe = popen(command.c_str(), "r");
    if (pipe == nullptr) {
        throw std::runtime_error("cannot start " + command);
    }
    std::string out;
    char buffer[4096];
    while (const std::size_t count = std::fread(buffer, 1, sizeof buffer, pipe)) {
        out.append(buffer, count);
    }
    if (pclose(pipe) != 0) {
        throw std::runtime_error("the process that measures has failed: " + command);
    }
    return out;
}

/// The same of this program with other arguments.
inline std::string output_of(const std::string& arguments) {
    return output_of_command(std::filesystem::read_symlink("/proc/self/exe").string() + " " + arguments);
}

}  // namespace assay::bench
