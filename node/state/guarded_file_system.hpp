// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <string>

#include <rocksdb/env.h>

/// Private to this folder: a disk whose failures end the process in order.
namespace assay::storage {

/// `base`, or the default environment, with every write to a file looked at: the first that fails is told to `on_failure`
/// before the database hears of it. A database that goes on after a failed write may end in an assertion of its own.
std::unique_ptr<rocksdb::Env> make_guarded_env(
    rocksdb::Env* base, std::function<void(const std::string&)> on_failure
);

}  // namespace assay::storage
