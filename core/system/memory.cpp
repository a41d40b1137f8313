// SPDX-License-Identifier: Apache-2.0
#include <core/system/memory.hpp>

#include <fstream>
#include <string>

#ifdef __GLIBC__
#include <malloc.h>
#endif

namespace assay::system {

std::optional<std::uint64_t> available_memory() {
    std::ifstream in("/proc/meminfo");
    for (std::string name, rest; in >> name;) {
        std::uint64_t kilobytes = 0;
        if (name == "MemAvailable:" && in >> kilobytes) {
            return kilobytes * 1024;
        }
        std::getline(in, rest);
    }
    return std::nullopt;
}

void release_free_memory() noexcept {
#ifdef __GLIBC__
    malloc_trim(0);
#endif
}

}  // namespace assay::system
