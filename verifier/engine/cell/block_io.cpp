// SPDX-License-Identifier: Apache-2.0
#include <verifier/engine/cell/block_io.hpp>

#include <cstring>

#include <core/base/assert.hpp>

namespace assay::engine::cell {

using canonical::Tensor;
using plan::Block;
using plan::IndexSet;

namespace {

// Calls f(offset in the local tensor, bytes) for each run of consecutive elements of `part`, in order.
template <class F>
void for_each_run(const Tensor& local, const Block& held, const Block& part, F f) {
    const std::size_t size = canonical::size_of(local.dtype);
    const std::size_t cols = held.cols.count();
    std::vector<std::pair<std::size_t, std::size_t>> runs;  // first column and number of columns
    for (const IndexSet::Range& range : part.cols.ranges()) {
        runs.emplace_back(held.cols.position(range.begin), range.end - range.begin);
    }
    for (const IndexSet::Range& range : part.rows.ranges()) {
        const std::size_t first = held.rows.position(range.begin);
        for (std::size_t row = first; row < first + (range.end - range.begin); ++row) {
            for (const auto& [col, count] : runs) {
                f((row * cols + col) * size, count * size);
            }
        }
    }
}

}  // namespace

void append_block(const Tensor& local, const Block& held, const Block& part, Bytes& out) {
    for_each_run(local, held, part, [&](std::size_t offset, std::size_t bytes) {
        out.insert(out.end(), local.data.data() + offset, local.data.data() + offset + bytes);
    });
}

void write_block(Tensor& local, const Block& held, const Block& part, ByteView bytes) {
    std::size_t at = 0;
    for_each_run(local, held, part, [&](std::size_t offset, std::size_t count) {
        ASSERT(at + count <= bytes.size());
        std::memcpy(local.data.data() + offset, bytes.data() + at, count);
        at += count;
    });
    ASSERT(at == bytes.size());
}

Tensor take_block(const Tensor& local, const Block& held, const Block& wanted) {
    Tensor out{local.dtype, wanted.shape(), {}};
    out.data.reserve(wanted.element_count() * canonical::size_of(local.dtype));
    append_block(local, held, wanted, out.data);
    return out;
}

void append_narrow(const std::int64_t* values, std::size_t count, std::uint32_t width, Bytes& out) {
    const std::size_t first = out.size();
    out.resize(first + count * width);
    for (std::size_t i = 0; i < count; ++i) {
        std::memcpy(out.data() + first + i * width, values + i, width);
    }
}

void add_narrow(ByteView bytes, std::uint32_t width, std::int64_t* sums) {
    const std::uint32_t shift = 64 - 8 * width;
    for (std::size_t i = 0; i * width < bytes.size(); ++i) {
        std::uint64_t word = 0;
        std::memcpy(&word, bytes.data() + i * width, width);
        const std::int64_t value = static_cast<std::int64_t>(word << shift) >> shift;
        sums[i] = static_cast<std::int64_t>(static_cast<std::uint64_t>(sums[i]) + static_cast<std::uint64_t>(value));
    }
}

}  // namespace assay::engine::cell
