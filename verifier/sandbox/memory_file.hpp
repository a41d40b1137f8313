// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

#include <core/base/bytes.hpp>

namespace assay::sandbox {

/// A descriptor that is closed at the end.
class Descriptor {
  public:
    explicit Descriptor(int number) noexcept : number_(number) {}
    ~Descriptor();
    Descriptor(Descriptor&& other) noexcept;
    Descriptor& operator=(Descriptor&&) = delete;
    int number() const { return number_; }
    bool is_open() const { return number_ >= 0; }

  private:
    int number_;
};

/// A file in memory, without a name. Not open where the system has no room for it.
Descriptor make_memory_file();
/// The same with `bytes` in it, at its beginning.
Descriptor make_memory_file(ByteView bytes);

/// A file that nobody writes any more, mapped into memory.
class MappedFile {
  public:
    /// Returns nullopt if it cannot be mapped.
    static std::optional<MappedFile> map(int descriptor);
    ~MappedFile();
    MappedFile(MappedFile&& other) noexcept;
    MappedFile& operator=(MappedFile&&) = delete;
    ByteView bytes() const { return {static_cast<const std::uint8_t*>(address_), size_}; }

  private:
    MappedFile(void* address, std::size_t size) noexcept : address_(address), size_(size) {}
    void* address_;
    std::size_t size_;
};

}  // namespace assay::sandbox
