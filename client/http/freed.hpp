// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace assay::http {

/// Deleter of a handle of a C library: calls the library's own function.
template <auto Free>
struct Freed {
    template <class Handle>
    void operator()(Handle* handle) const {
        Free(handle);
    }
};

}  // namespace assay::http
