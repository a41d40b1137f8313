// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include <rocksdb/env.h>

#include <node/state/store.hpp>

/// Private to this folder: a disk that fails on demand.
namespace assay::storage {

/// The default environment, with every append and sync of every written file put before `fault` first. Once one was
/// refused all later ones are, as on a device that is gone.
std::unique_ptr<rocksdb::Env> make_fault_env(std::function<Fault(std::uint64_t)> fault);

}  // namespace assay::storage
