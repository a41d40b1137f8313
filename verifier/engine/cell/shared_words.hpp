// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include <core/base/bytes.hpp>

namespace assay::engine {

/// A table that all ranks of a session read and write, to tell each other where they listen.
class SharedWords {
  public:
    virtual ~SharedWords() = default;
    virtual void set(const std::string& key, const Bytes& value) = 0;
    /// Waits until there is a value. Throws std::runtime_error if there is none in time.
    virtual Bytes get(const std::string& key) = 0;
};

}  // namespace assay::engine
