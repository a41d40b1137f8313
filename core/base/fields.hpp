// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

namespace assay {

/// The members of a struct in the order of their encoding, as borsh.hpp wants them. Nothing but a type: a tuple of the
/// same pointers would cost every file that sees a long struct a good part of a second to compile.
template <auto... members>
struct Fields {
    static constexpr std::size_t kCount = sizeof...(members);
};

}  // namespace assay
