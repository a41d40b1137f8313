// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <type_traits>

#include <core/base/fields.hpp>
#include <core/base/member_name.hpp>
#include <contracts/chain/chain.hpp>
#include <node/rpc/render.hpp>

namespace assay::rpc {

template <class T>
Json render_value(const T& value) {
    if constexpr (std::is_integral_v<T> || std::is_same_v<T, std::string>) {
        return value;
    } else if constexpr (std::is_enum_v<T>) {
        return to_string(value);
    } else {
        return rpc::render(value);
    }
}

/// A record's members under their names.
template <class A, auto... members>
Json members_of(const A& action, Fields<members...> /*fields*/) {
    Json out = Json::object();
    (out.emplace(member_name<members>(), render_value(action.*members)), ...);
    return out;
}

}  // namespace assay::rpc
