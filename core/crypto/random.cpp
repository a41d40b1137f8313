// SPDX-License-Identifier: Apache-2.0
#include <core/crypto/random.hpp>

#include <cerrno>

#include <string.h>
#include <sys/random.h>

#include <core/base/assert.hpp>

namespace assay::crypto {

void fill_random(std::span<std::uint8_t> out) {
    while (!out.empty()) {
        const ssize_t got = ::getrandom(out.data(), out.size(), 0);
        if (got < 0 && errno == EINTR) {
            continue;
        }
        ASSERT(got > 0);
        out = out.subspan(static_cast<std::size_t>(got));
    }
}

void wipe(std::span<std::uint8_t> secret) noexcept { ::explicit_bzero(secret.data(), secret.size()); }

}  // namespace assay::crypto
