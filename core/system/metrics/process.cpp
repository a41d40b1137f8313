// SPDX-License-Identifier: Apache-2.0
#include <core/system/metrics/process.hpp>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include <sys/resource.h>
#include <unistd.h>

namespace assay::metrics {
namespace {

/// The fields of /proc/self/stat that follow the program's name, which may hold spaces. The first is the state, number
/// 3 in proc(5).
std::vector<std::string> stat_fields() {
    std::ifstream file("/proc/self/stat");
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    const std::size_t end = text.rfind(')');
    if (end == std::string::npos) {
        return {};
    }
    std::istringstream rest(text.substr(end + 1));
    return {std::istream_iterator<std::string>(rest), {}};
}

/// The time of the machine's start in seconds of Unix time.
std::optional<double> boot_time() {
    std::ifstream file("/proc/stat");
    std::string line;
    while (std::getline(file, line)) {
        if (line.starts_with("btime ")) {
            return std::stod(line.substr(6));
        }
    }
    return std::nullopt;
}

std::optional<double> count_descriptors() {
    std::error_code error;
    std::filesystem::directory_iterator it("/proc/self/fd", error);
    double count = -1;  // without the one that reads the folder
    while (!error && it != std::filesystem::directory_iterator{}) {
        ++count;
        it.increment(error);
    }
    return error ? std::nullopt : std::optional(count);
}

}  // namespace

ProcessMetrics::ProcessMetrics(Registry& registry)
    : open_fds_(registry.gauge({"process_open_fds", "Number of file descriptors that are open."})),
      max_fds_(registry.gauge({"process_max_fds", "Number of file descriptors that the process may have."})),
      resident_bytes_(registry.gauge({"process_resident_memory_bytes", "Memory of the process that is in RAM."})),
      virtual_bytes_(registry.gauge({"process_virtual_memory_bytes", "Address space of the process."})),
      start_time_(registry.gauge({"process_start_time_seconds", "Unix time at which the process started."})),
      cpu_(registry.real_counter(
          {"process_cpu_seconds_total", "CPU time that the process has used, in user and system mode."}
      )),
      threads_(registry.gauge({"process_threads", "Number of threads of the process."})) {}

void ProcessMetrics::update() {
    if (const auto count = count_descriptors()) {
        open_fds_.set(*count);
    }
    rlimit limit{};
    if (::getrlimit(RLIMIT_NOFILE, &limit) == 0) {
        max_fds_.set(static_cast<double>(limit.rlim_cur));
    }
    // proc(5): utime 14, stime 15, num_threads 20, starttime 22, vsize 23, rss 24; the first field here is number 3.
    const auto fields = stat_fields();
    const auto ticks = static_cast<double>(::sysconf(_SC_CLK_TCK));
    if (fields.size() < 22) {
        return;
    }
    const auto number = [&fields](std::size_t place) { return std::stod(fields[place - 3]); };
    cpu_.set((number(14) + number(15)) / ticks);
    threads_.set(number(20));
    virtual_bytes_.set(number(23));
    resident_bytes_.set(number(24) * static_cast<double>(::sysconf(_SC_PAGESIZE)));
    if (const auto boot = boot_time()) {
        start_time_.set(*boot + number(22) / ticks);
    }
}

}  // namespace assay::metrics
