// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>

#include <core/base/bytes.hpp>

/// The outputs whose digests tests/vectors/canonical.json publishes: random nodes of every primitive, plain and hostile
/// in turn, whole contractions in each of the named profiles, the chains in f64, and the accumulators between partials.
/// The same on every machine (NUM-1).
namespace assay::canonical::test {

/// Calls `output` with each one's name and the bytes of each of its outputs in turn; names come one after another.
void write_golden(const std::function<void(const std::string& name, ByteView bytes)>& output);

}  // namespace assay::canonical::test
