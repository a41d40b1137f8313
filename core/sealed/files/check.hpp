// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <core/base/bytes.hpp>
#include <core/base/result.hpp>
#include <core/sealed/files/byte_source.hpp>
#include <core/sealed/sealed_tree.hpp>

namespace assay::sealed {

/// A sealed file as far as it is understood without a key.
struct CheckedFile {
    Layout layout;
    SealedLeaves leaves;
    Hash256 root;  ///< SEA-12: the file's name
};

/// SEA-13: reads a whole file, and returns its layout, its leaves and its root. Needs no key. Memory: 32 bytes for each
/// chunk.
Result<CheckedFile, FormatError> check_file(const ByteSource& file, const Effort& effort = {});
/// The file's root alone.
Result<Hash256, FormatError> check_sealed(const ByteSource& file, const Effort& effort = {});
Result<Hash256, FormatError> check_sealed(ByteView file);

/// The opening of one chunk of a file.
SealedOpening open_sealed(const ByteSource& file, const CheckedFile& checked, std::uint32_t group, std::uint32_t chunk);

}  // namespace assay::sealed
