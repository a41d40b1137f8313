// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <string>

#include <rocksdb/env.h>

/// Private to this folder: a file system that reports failed writes, so that the process can end in an orderly way.
namespace assay::storage {

/// Returns `base`, or the default environment if it is null, with every write to a file checked. A failed write is
/// reported to `on_failure` before the database learns of it: a database that continues after a failed write may hit an
/// assertion of its own.
std::unique_ptr<rocksdb::Env> make_guarded_env(rocksdb::Env* base, std::function<void(const std::string&)> on_failure);

}  // namespace assay::storage
