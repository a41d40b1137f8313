// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace assay {

/// The name of a struct's member as the source spells it, from a pointer to the member. Read from the compiler's
/// description of this function, "... member = &assay::Foo::bar]"; g++ goes on with "; " and the return type.
template <auto member>
constexpr std::string_view member_name() {
    constexpr std::string_view kMarker = "member = ";
    std::string_view text = __PRETTY_FUNCTION__;
    text = text.substr(text.rfind(kMarker) + kMarker.size());
    text = text.substr(0, text.find_first_of(";]"));
    return text.substr(text.rfind(':') + 1);
}

}  // namespace assay
