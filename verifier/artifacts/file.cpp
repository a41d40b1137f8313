// SPDX-License-Identifier: Apache-2.0
#include <verifier/artifacts/file.hpp>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <string>
#include <system_error>
#include <utility>

#include <core/crypto/hash.hpp>

namespace assay::artifacts {
namespace {

constexpr std::size_t kPieceBytes = 1U << 20U;

int open_retrying(const std::filesystem::path& path, int flags) {
    int descriptor = -1;
    do {
        descriptor = ::open(path.c_str(), flags | O_CLOEXEC, 0644);
    } while (descriptor < 0 && errno == EINTR);
    return descriptor;
}

}  // namespace

void File::fail(const char* what, int error) const {
    throw StoreError(
        std::string(what) + " " + path_.string() + ": " + std::error_code(error, std::generic_category()).message()
    );
}

File::File(std::filesystem::path path, int flags) : path_(std::move(path)), descriptor_(open_retrying(path_, flags)) {
    if (descriptor_ < 0) {
        fail("cannot open", errno);
    }
}

File::File(std::filesystem::path path, int descriptor, bool) noexcept
    : path_(std::move(path)), descriptor_(descriptor) {}

File::File(File&& other) noexcept : path_(std::move(other.path_)), descriptor_(std::exchange(other.descriptor_, -1)) {}

File::~File() {
    if (descriptor_ >= 0) {
        ::close(descriptor_);
    }
}

std::optional<File> File::open(const std::filesystem::path& path) {
    File file(path, open_retrying(path, O_RDONLY), true);
    if (file.descriptor_ < 0) {
        if (const int error = errno; error != ENOENT) {
            file.fail("cannot open", error);
        }
        return std::nullopt;
    }
    return file;
}

void File::write(ByteView bytes) const {
    while (!bytes.empty()) {
        const ssize_t written = ::write(descriptor_, bytes.data(), bytes.size());
        if (written < 0 && errno != EINTR) {
            fail("cannot write", errno);
        }
        bytes = bytes.subspan(written < 0 ? 0 : static_cast<std::size_t>(written));
    }
}

void File::write_at(std::uint64_t offset, ByteView bytes) const {
    while (!bytes.empty()) {
        const ssize_t written = ::pwrite(descriptor_, bytes.data(), bytes.size(), static_cast<off_t>(offset));
        if (written < 0 && errno != EINTR) {
            fail("cannot write", errno);
        }
        const std::size_t count = written < 0 ? 0 : static_cast<std::size_t>(written);
        bytes = bytes.subspan(count);
        offset += count;
    }
}

void File::read_at(std::uint64_t offset, std::span<std::uint8_t> out) const {
    while (!out.empty()) {
        const ssize_t count = ::pread(descriptor_, out.data(), out.size(), static_cast<off_t>(offset));
        if (count == 0) {
            throw StoreError("cannot read " + path_.string() + ": it has become shorter");
        }
        if (count < 0 && errno != EINTR) {
            fail("cannot read", errno);
        }
        const std::size_t got = count < 0 ? 0 : static_cast<std::size_t>(count);
        out = out.subspan(got);
        offset += got;
    }
}

std::uint64_t File::size_bytes() const {
    struct stat status {};
    if (::fstat(descriptor_, &status) != 0) {
        fail("cannot read", errno);
    }
    return static_cast<std::uint64_t>(status.st_size);
}

void File::resize(std::uint64_t size_bytes) const {
    if (::ftruncate(descriptor_, static_cast<off_t>(size_bytes)) != 0) {
        fail("cannot resize", errno);
    }
}

void File::sync() const {
    if (::fsync(descriptor_) != 0) {
        fail("cannot sync", errno);
    }
}

bool File::try_lock() const {
    if (::flock(descriptor_, LOCK_EX | LOCK_NB) == 0) {
        return true;
    }
    if (errno != EWOULDBLOCK) {
        fail("cannot lock", errno);
    }
    return false;
}

Hash256 sha256_of(const File& file) {
    crypto::Sha256 hash;
    Bytes piece(kPieceBytes);
    const std::uint64_t size = file.size_bytes();
    for (std::uint64_t offset = 0; offset < size; offset += kPieceBytes) {
        const std::span part(piece.data(), std::min<std::uint64_t>(kPieceBytes, size - offset));
        file.read_at(offset, part);
        hash.update(part);
    }
    return hash.finish();
}

struct StoredFile::Mapping {
    explicit Mapping(File opened) : file(std::move(opened)), size_bytes(file.size_bytes()) {
        if (size_bytes != 0) {
            address = ::mmap(nullptr, size_bytes, PROT_READ, MAP_PRIVATE, file.descriptor(), 0);
            if (address == MAP_FAILED) {
                throw StoreError(
                    "cannot map a file of " + std::to_string(size_bytes) +
                    " bytes: " + std::error_code(errno, std::generic_category()).message()
                );
            }
        }
    }
    ~Mapping() {
        if (address != nullptr) {
            ::munmap(address, size_bytes);
        }
    }
    Mapping(const Mapping&) = delete;
    Mapping& operator=(const Mapping&) = delete;

    File file;
    std::uint64_t size_bytes;
    void* address = nullptr;
};

std::optional<StoredFile> StoredFile::open(const std::filesystem::path& path) {
    auto file = File::open(path);
    if (!file) {
        return std::nullopt;
    }
    return StoredFile(std::make_shared<const Mapping>(*std::move(file)));
}

const std::filesystem::path& StoredFile::path() const { return mapping_->file.path(); }

std::uint64_t StoredFile::size_bytes() const { return mapping_->size_bytes; }

int StoredFile::descriptor() const { return mapping_->file.descriptor(); }

ByteView StoredFile::view() const {
    return {static_cast<const std::uint8_t*>(mapping_->address), static_cast<std::size_t>(mapping_->size_bytes)};
}

void StoredFile::read(std::uint64_t offset, std::span<std::uint8_t> out) const { mapping_->file.read_at(offset, out); }

Hash256 StoredFile::sha256() const { return sha256_of(mapping_->file); }

}  // namespace assay::artifacts
