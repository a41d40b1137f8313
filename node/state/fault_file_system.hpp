// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include <rocksdb/env.h>

#include <node/state/store.hpp>

/// Private to this folder: a file system that fails on demand, for tests.
namespace assay::storage {

/// Returns the default environment with `fault` asked before every append to and sync of a written file. After the
/// first failure all later ones fail too, as on a dead device.
std::unique_ptr<rocksdb::Env> make_fault_env(std::function<Fault(std::uint64_t)> fault);

}  // namespace assay::storage
