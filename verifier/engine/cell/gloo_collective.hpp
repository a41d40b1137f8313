// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

#include <verifier/engine/cell/collective.hpp>
#include <verifier/engine/cell/shared_words.hpp>

namespace assay::engine {

struct GlooOptions {
    std::uint32_t rank = 0;
    std::uint32_t size = 1;
    std::string address = "127.0.0.1";           ///< the address of this machine that the other ranks connect to
    std::chrono::milliseconds timeout{300'000};  ///< how long a rank waits for another one's message
};

/// Connects the ranks of a session by TCP with libtorch's c10d and gloo. Whoever is on the way can read and alter
/// what crosses: the machines of a cell need a network of their own. Throws std::runtime_error if not all come in time.
std::unique_ptr<Collective> connect_gloo(const std::shared_ptr<SharedWords>& words, const GlooOptions& options);

}  // namespace assay::engine
