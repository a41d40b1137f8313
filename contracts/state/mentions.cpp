// SPDX-License-Identifier: Apache-2.0
#include <contracts/state/mentions.hpp>

#include <type_traits>
#include <variant>
#include <vector>

#include <core/base/fields.hpp>

namespace assay::contracts {
namespace {

using Accounts = std::set<AccountId>;

template <class T>
struct IsVector : std::false_type {};
template <class T>
struct IsVector<std::vector<T>> : std::true_type {};

template <class T>
void collect(const T& value, Accounts& out);

template <class T, auto... members>
void collect_members(const T& value, Fields<members...> /*fields*/, Accounts& out) {
    (collect(value.*members, out), ...);
}

/// All accounts that a value has in it, at any depth.
template <class T>
void collect(const T& value, Accounts& out) {
    if constexpr (std::is_same_v<T, AccountId>) {
        if (!value.is_zero()) {
            out.insert(value);
        }
    } else if constexpr (IsVector<T>::value) {
        for (const auto& each : value) {
            collect(each, out);
        }
    } else if constexpr (requires { T::fields(); }) {
        collect_members(value, T::fields(), out);
    }
}

}  // namespace

std::set<AccountId> accounts_of(const HistoryRecord& record) {
    Accounts out;
    collect(record.actor, out);
    std::visit([&out](const auto& event) { collect(event, out); }, record.event);
    return out;
}

std::optional<DisputeId> dispute_of(const HistoryEvent& event) {
    return std::visit(
        [](const auto& each) -> std::optional<DisputeId> {
            if constexpr (requires { each.dispute; }) {
                return each.dispute;
            } else {
                return std::nullopt;
            }
        },
        event
    );
}

}  // namespace assay::contracts
