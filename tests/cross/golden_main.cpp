// SPDX-License-Identifier: Apache-2.0
#include <cinttypes>
#include <cstdio>
#include <map>
#include <string>

#include <tests/unit/canonical/golden.hpp>
#include <core/canonical/executor.hpp>

/// Prints each golden vector's name and the 64-bit FNV-1a hash of its outputs. Needs nothing but the pure code, so that
/// it builds for any machine that a compiler is at hand for.
int main() {
    using namespace assay;
    if (!canonical::floating_point_is_canonical()) {
        std::puts("this machine does not compute as NUM-3 asks");
        return 1;
    }
    std::map<std::string, std::uint64_t> hashes;
    canonical::test::write_golden([&](const std::string& name, ByteView bytes) {
        std::uint64_t& hash = hashes.try_emplace(name, 0xcbf29ce484222325U).first->second;
        for (const std::uint8_t byte : bytes) {
            hash = (hash ^ byte) * 0x100000001b3U;
        }
    });
    for (const auto& [name, hash] : hashes) {
        std::printf("%s %016" PRIx64 "\n", name.c_str(), hash);
    }
    return 0;
}
