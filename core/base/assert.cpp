// SPDX-License-Identifier: Apache-2.0
#include <core/base/assert.hpp>

#include <cstdio>
#include <cstdlib>

namespace assay {

void assertion_failed(const char* expression, const char* file, int line) noexcept {
    std::fprintf(stderr, "assay: assertion failed: %s (%s:%d)\n", expression, file, line);
    std::abort();
}

}  // namespace assay
