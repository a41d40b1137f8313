// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>

#include <core/base/bytes.hpp>
#include <core/base/integers.hpp>
#include <contracts/transaction/transaction.hpp>
#include <node/api/listings.hpp>
#include <node/rpc/jsonrpc.hpp>

namespace assay::rpc {

/// The parameters of one call. Reading a parameter that is missing or ill-typed throws a Fault that names it.
class Arguments {
  public:
    /// The dispatcher has checked the names. `params` must outlive this object.
    explicit Arguments(const Json& params) : params_(params) {}
    /// Throws a Fault if `params` has a name that is not in `names`.
    Arguments(const Json& params, std::initializer_list<std::string_view> names);

    bool has(const char* name) const { return params_.contains(name); }
    std::uint64_t number(const char* name, std::uint64_t max) const;
    std::uint64_t number_or(const char* name, std::uint64_t otherwise, std::uint64_t max) const;
    std::string text(const char* name) const;
    Bytes bytes(const char* name, std::size_t size_max) const;
    AccountId account(const char* name) const;
    /// Returns nullopt if it is not given.
    std::optional<AccountId> optional_account(const char* name) const;
    contracts::Role role(const char* name) const;
    Json object(const char* name) const;
    template <class Id>
    Id id(const char* name) const {
        const auto id = fixed_from_hex<Id>(text(name));
        if (!id) {
            fail(name, "must be " + std::to_string(2 * Id::kSizeBytes) + " hex digits");
        }
        return *id;
    }

    /// Returns `limit`: 1..100, default 50.
    std::uint32_t limit() const;
    /// Returns `order`: "oldest" or "newest" comes first; default oldest.
    node::Order order() const;
    /// Returns the position in `cursor`, or 0 if it is absent or null. Throws a Fault if the cursor is not one of the
    /// listing `scope`.
    std::uint64_t from(std::string_view scope) const;

  private:
    const Json& required(const char* name) const;
    [[noreturn]] static void fail(const char* name, const std::string& what);

    const Json& params_;
};

inline constexpr std::uint32_t kPageMax = 100;

}  // namespace assay::rpc
