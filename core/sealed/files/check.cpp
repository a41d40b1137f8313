// SPDX-License-Identifier: Apache-2.0
#include <core/sealed/files/check.hpp>

#include <algorithm>
#include <utility>

#include <core/sealed/files/workers.hpp>

namespace assay::sealed {
namespace {

Bytes read_bytes(const ByteSource& file, std::uint64_t offset, std::size_t size) {
    Bytes out(size);
    file.read(offset, out);
    return out;
}

Result<Layout, FormatError> read_layout(const ByteSource& file) {
    const Bytes length = read_bytes(file, 0, std::min<std::uint64_t>(4, file.size()));
    TRY_ASSIGN(const std::size_t size, header_bytes(length));
    const Bytes start = read_bytes(file, 0, std::min<std::uint64_t>(size, file.size()));
    return decode_header(start, file.size());
}

}  // namespace

Result<CheckedFile, FormatError> check_file(const ByteSource& file, const Effort& effort) {
    TRY_ASSIGN(Layout layout, read_layout(file));
    Meter meter(effort, layout.chunk_count());
    SealedLeaves leaves(layout.group_count());
    for (std::uint32_t group = 0; group < layout.group_count(); ++group) {
        const std::uint32_t chunks = layout.chunk_count(group);
        leaves[group].resize(chunks);
        for (std::uint64_t first = 0; first < chunks; first += kBatchChunks) {
            const std::uint64_t count = std::min<std::uint64_t>(kBatchChunks, chunks - first);
            for_each_number(count, meter.threads(), [&](std::uint64_t i) {
                const auto chunk = static_cast<std::uint32_t>(first + i);
                const Bytes bytes = read_bytes(file, layout.offset(group, chunk), layout.sealed_bytes(group, chunk));
                leaves[group][chunk] = sealed_leaf(bytes);
            });
            meter.add(count);
        }
    }
    const Hash256 root = sealed_root(leaves);
    return CheckedFile{.layout = std::move(layout), .leaves = std::move(leaves), .root = root};
}

Result<Hash256, FormatError> check_sealed(const ByteSource& file, const Effort& effort) {
    TRY_ASSIGN(const CheckedFile checked, check_file(file, effort));
    return checked.root;
}

Result<Hash256, FormatError> check_sealed(ByteView file) { return check_sealed(MemorySource(file)); }

SealedOpening open_sealed(
    const ByteSource& file, const CheckedFile& checked, std::uint32_t group, std::uint32_t chunk
) {
    return open_leaf(
        checked.leaves, group, chunk,
        read_bytes(file, checked.layout.offset(group, chunk), checked.layout.sealed_bytes(group, chunk))
    );
}

}  // namespace assay::sealed
