// SPDX-License-Identifier: Apache-2.0
#include <node/rpc/arguments.hpp>

#include <algorithm>

#include <core/crypto/address.hpp>
#include <node/rpc/cursor.hpp>

namespace assay::rpc {

Arguments::Arguments(const Json& params, std::initializer_list<std::string_view> names) : params_(params) {
    for (const auto& [name, value] : params.items()) {
        if (std::find(names.begin(), names.end(), name) == names.end()) {
            throw Fault(kInvalidParams, "unknown parameter \"" + name + "\"", {{"parameter", name}});
        }
    }
}

void Arguments::fail(const char* name, const std::string& what) {
    throw Fault(kInvalidParams, "parameter \"" + std::string(name) + "\" " + what, {{"parameter", name}});
}

const Json& Arguments::required(const char* name) const {
    const auto found = params_.find(name);
    if (found == params_.end()) {
        fail(name, "is missing");
    }
    return *found;
}

std::uint64_t Arguments::number(const char* name, std::uint64_t max) const {
    const Json& value = required(name);
    if (!value.is_number_unsigned() || value.get<std::uint64_t>() > max) {
        fail(name, "must be a whole number from 0 to " + std::to_string(max));
    }
    return value.get<std::uint64_t>();
}

std::uint64_t Arguments::number_or(const char* name, std::uint64_t otherwise, std::uint64_t max) const {
    return has(name) ? number(name, max) : otherwise;
}

std::string Arguments::text(const char* name) const {
    const Json& value = required(name);
    if (!value.is_string()) {
        fail(name, "must be a string");
    }
    return value.get<std::string>();
}

Bytes Arguments::bytes(const char* name, std::size_t size_max) const {
    auto bytes = from_hex(text(name));
    if (!bytes) {
        fail(name, "must be hex digits, two for each byte");
    }
    if (bytes->size() > size_max) {
        fail(name, "must be at most " + std::to_string(size_max) + " bytes");
    }
    return *std::move(bytes);
}

AccountId Arguments::account(const char* name) const {
    const std::string value = text(name);
    if (const auto address = crypto::decode_address(value)) {
        return *address;
    }
    const auto id = fixed_from_hex<AccountId>(value);
    if (!id) {
        fail(name, "must be an address (assay1...) or 64 hex digits");
    }
    return *id;
}

std::optional<AccountId> Arguments::optional_account(const char* name) const {
    return has(name) ? std::optional(account(name)) : std::nullopt;
}

contracts::Role Arguments::role(const char* name) const {
    const std::string value = text(name);
    for (const auto role :
         {contracts::Role::kSolver, contracts::Role::kVerifier, contracts::Role::kWhistleblower,
          contracts::Role::kValidator}) {
        if (value == contracts::to_string(role)) {
            return role;
        }
    }
    fail(name, "must be solver, verifier or whistleblower");
}

Json Arguments::object(const char* name) const {
    const Json& value = required(name);
    if (!value.is_object()) {
        fail(name, "must be an object");
    }
    return value;
}

std::uint32_t Arguments::limit() const {
    if (!has("limit")) {
        return 50;
    }
    const std::uint64_t limit = number("limit", kPageMax);
    if (limit == 0) {
        fail("limit", "must be at least 1");
    }
    return static_cast<std::uint32_t>(limit);
}

node::Order Arguments::order() const {
    const std::string word = has("order") ? text("order") : "oldest";
    if (word != "oldest" && word != "newest") {
        fail("order", "must be oldest or newest");
    }
    return word == "newest" ? node::Order::kNewest : node::Order::kOldest;
}

std::uint64_t Arguments::from(std::string_view scope) const {
    if (!has("cursor") || params_.at("cursor").is_null()) {
        return 0;
    }
    const auto from = decode_cursor(scope, text("cursor"));
    if (!from) {
        fail("cursor", "is not one that this listing gave");
    }
    return *from;
}

}  // namespace assay::rpc
