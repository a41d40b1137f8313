// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <type_traits>
#include <vector>

#include <contracts/state/ids.hpp>
#include <core/base/bytes.hpp>
#include <core/base/fields.hpp>
#include <core/base/integers.hpp>
#include <core/base/member_name.hpp>
#include <node/rpc/describe/schema.hpp>

/// The shapes of the node's answers, as render.hpp makes them.
namespace assay::rpc::describe {

void add_chain_types(Schema& components);
void add_task_types(Schema& components);
void add_group_types(Schema& components);
void add_dispute_types(Schema& components);
void add_action_types(Schema& components);
void add_event_types(Schema& components);

/// The words for what happens in tasks, in the order of the documents.
std::vector<std::string> event_names();
/// The kind of event that is of a validator and of no task. `event_list` has it where it is asked for.
inline constexpr const char* kPenaltyEvent = "validator_penalized";
/// The report of a verdict on a task's checks (CHK-3).
Schema failed_checks();
/// The fields of tasks in every listing.
Members task_head();

/// The shape of the value of a record's member.
template <class T>
Schema value_of() {
    if constexpr (std::is_same_v<T, bool>) {
        return flag();
    } else if constexpr (std::is_integral_v<T>) {
        return std::is_signed_v<T> ? signed_integer() : integer();
    } else if constexpr (std::is_same_v<T, std::string> || std::is_enum_v<T>) {
        return text();
    } else if constexpr (std::is_same_v<T, AccountId>) {
        return account();
    } else if constexpr (std::is_same_v<T, Amount>) {
        return amount();
    } else if constexpr (std::is_same_v<T, Height>) {
        return height();
    } else if constexpr (requires { T::kSizeBytes; }) {
        return T::kSizeBytes == 32 ? hash() : hex();
    } else {
        static_assert(std::is_same_v<T, void>, "a shape of its own");
    }
}

template <class T>
struct MemberType;
template <class Record, class Value>
struct MemberType<Value Record::*> {
    using type = Value;
};

template <auto... members>
Members members_of(assay::Fields<members...> /*fields*/) {
    return {
        Member{std::string(member_name<members>()), value_of<typename MemberType<decltype(members)>::type>(), {}}...};
}

}  // namespace assay::rpc::describe
