// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

#include <core/base/bytes.hpp>
#include <verifier/engine/cell/collective.hpp>

namespace assay::engine {

/// A table that all ranks of a session read and write, to tell each other where they listen.
class SharedWords {
  public:
    virtual ~SharedWords() = default;
    virtual void set(const std::string& key, const Bytes& value) = 0;
    /// Waits until there is a value. Throws std::runtime_error if there is none in time.
    virtual Bytes get(const std::string& key) = 0;
};

struct GlooOptions {
    std::uint32_t rank = 0;
    std::uint32_t size = 1;
    std::string address = "127.0.0.1";           ///< the address of this machine that the other ranks connect to
    std::chrono::milliseconds timeout{300'000};  ///< how long a rank waits for another one's message
};

/// Connects the ranks of a session by TCP with libtorch's c10d and gloo. Whoever is on the way can read and alter
/// what crosses: the machines of a cell need a network of their own. Throws std::runtime_error if not all come in time.
std::unique_ptr<Collective> connect_gloo(std::shared_ptr<SharedWords> words, const GlooOptions& options);

}  // namespace assay::engine
