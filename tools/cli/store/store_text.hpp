// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <tools/cli/common/session.hpp>
#include <verifier/stores/store.hpp>

/// What the commands about stores share.
namespace assay::cli {

/// Decodes a location that an argument names. Throws usage() with the reason.
stores::Location location_argument(const std::string& text);
/// Throws usage() unless each of the locations, which spaces separate, can be decoded and a record takes them all.
void check_locations(const std::string& text);

/// Opens it with the credentials of the environment. Throws Failure.
std::unique_ptr<stores::Store> open_argument(const std::string& text);

/// Runs `act`, and makes of what a store throws a failure with its exit code.
void with_store(const std::function<void()>& act);

/// Size in the unit that people read.
std::string size_text(std::uint64_t bytes);

/// What a collection deletes: of `entries` those that are not pinned, that were written before `now_s` minus
/// `age_s`, and that `only` names if it names any. Those whose time is not known only where `only` names them.
std::vector<stores::StoredEntry> garbage_among(
    const std::vector<stores::StoredEntry>& entries, std::uint64_t now_s, std::uint64_t age_s,
    const std::vector<Hash256>& only
);

}  // namespace assay::cli
