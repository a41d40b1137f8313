// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

namespace assay {

/// Lists the members of a struct in the order of their encoding, for borsh.hpp. Only a type: a tuple of the same
/// pointers would add a large part of a second to the compilation of every file that includes a long struct.
template <auto... members>
struct Fields {
    static constexpr std::size_t kCount = sizeof...(members);
};

}  // namespace assay
