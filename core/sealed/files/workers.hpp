// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>

#include <core/sealed/files/byte_source.hpp>

namespace assay::sealed {

/// How many chunks are worked on before they are written and progress is told: 16 MiB of plaintext.
inline constexpr std::uint64_t kBatchChunks = 1024;

/// Calls `work` for each number below `count`, on effort.threads threads, in any order. If calls throw, one of the
/// exceptions is thrown once all threads have ended, and some numbers may have been left out.
void for_each_number(std::uint64_t count, unsigned threads, const std::function<void(std::uint64_t)>& work);

/// Counts chunks, and tells Effort::progress.
class Meter {
  public:
    Meter(const Effort& effort, std::uint64_t all) : effort_(effort), all_(all) {}
    void add(std::uint64_t chunks) {
        done_ += chunks;
        if (effort_.progress) {
            effort_.progress(done_, all_);
        }
    }
    unsigned threads() const { return effort_.threads; }

  private:
    const Effort& effort_;
    std::uint64_t all_;
    std::uint64_t done_ = 0;
};

}  // namespace assay::sealed
