// SPDX-License-Identifier: Apache-2.0
#include <verifier/engine/fused/placing.hpp>

#include <algorithm>

namespace assay::engine::fused {

std::size_t FirstFit::take(std::size_t size) {
    std::size_t at = 0;
    for (const auto& [begin, end] : used_) {
        if (begin >= at + size) {
            break;
        }
        at = end;
    }
    used_[at] = at + size;
    size_bytes_ = std::max(size_bytes_, at + size);
    return at;
}

std::size_t SameSize::take(std::size_t size) {
    if (const auto found = free_.find(size); found != free_.end()) {
        const std::size_t offset = found->second;
        free_.erase(found);
        return offset;
    }
    const std::size_t offset = size_bytes_;
    size_bytes_ += size;
    return offset;
}

}  // namespace assay::engine::fused
