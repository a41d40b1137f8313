// SPDX-License-Identifier: Apache-2.0
#include <verifier/sandbox/memory_file.hpp>

#include <cerrno>
#include <cstddef>
#include <utility>

#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace assay::sandbox {

Descriptor::~Descriptor() {
    if (number_ >= 0) {
        ::close(number_);
    }
}

Descriptor::Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}

Descriptor make_memory_file() { return Descriptor(::memfd_create("assay-parser", MFD_CLOEXEC)); }

Descriptor make_memory_file(ByteView bytes) {
    Descriptor out = make_memory_file();
    std::size_t done = 0;
    while (out.is_open() && done < bytes.size()) {
        const ssize_t count =
            ::pwrite(out.number(), bytes.data() + done, bytes.size() - done, static_cast<off_t>(done));
        if (count < 0 && errno == EINTR) {
            continue;
        }
        if (count <= 0) {
            return Descriptor(-1);
        }
        done += static_cast<std::size_t>(count);
    }
    return out;
}

std::optional<MappedFile> MappedFile::map(int descriptor) {
    struct stat status {};
    if (::fstat(descriptor, &status) != 0) {
        return std::nullopt;
    }
    const auto size = static_cast<std::size_t>(status.st_size);
    if (size == 0) {
        return MappedFile(nullptr, 0);
    }
    void* const address = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, descriptor, 0);
    if (address == MAP_FAILED) {
        return std::nullopt;
    }
    return MappedFile(address, size);
}

MappedFile::~MappedFile() {
    if (address_ != nullptr) {
        ::munmap(address_, size_);
    }
}

MappedFile::MappedFile(MappedFile&& other) noexcept
    : address_(std::exchange(other.address_, nullptr)), size_(std::exchange(other.size_, 0)) {}

}  // namespace assay::sandbox
