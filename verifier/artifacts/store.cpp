// SPDX-License-Identifier: Apache-2.0
#include <verifier/artifacts/store.hpp>

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <string>
#include <system_error>
#include <utility>

#include <core/crypto/hash.hpp>

namespace assay::artifacts {
namespace {

namespace fs = std::filesystem;
constexpr const char* kTemporary = "tmp";
constexpr const char* kQuarantine = "quarantine";

[[noreturn]] void fail(const std::string& what, const fs::path& path, int error) {
    throw StoreError(what + " " + path.string() + ": " + std::error_code(error, std::generic_category()).message());
}

/// Closes a descriptor when it goes out of scope.
class File {
  public:
    File(const fs::path& path, int flags) : path_(path), descriptor_(::open(path.c_str(), flags | O_CLOEXEC, 0644)) {
        if (descriptor_ < 0) {
            fail("cannot open", path_, errno);
        }
    }
    ~File() { ::close(descriptor_); }
    File(const File&) = delete;
    File& operator=(const File&) = delete;

    void write(ByteView bytes) const {
        while (!bytes.empty()) {
            const ssize_t written = ::write(descriptor_, bytes.data(), bytes.size());
            if (written < 0 && errno != EINTR) {
                fail("cannot write", path_, errno);
            }
            bytes = bytes.subspan(written < 0 ? 0 : static_cast<std::size_t>(written));
        }
    }
    void sync() const {
        if (::fsync(descriptor_) != 0) {
            fail("cannot sync", path_, errno);
        }
    }

  private:
    fs::path path_;
    int descriptor_;
};

Bytes read_all(const fs::path& path) {
    std::ifstream in(path, std::ios::binary | std::ios::ate);
    if (!in) {
        throw StoreError("cannot read " + path.string());
    }
    Bytes out(static_cast<std::size_t>(in.tellg()));
    in.seekg(0);
    in.read(reinterpret_cast<char*>(out.data()), static_cast<std::streamsize>(out.size()));
    if (!in) {
        throw StoreError("cannot read " + path.string());
    }
    return out;
}

}  // namespace

ContentStore::ContentStore(std::filesystem::path directory) : directory_(std::move(directory)) {
    std::error_code error;
    fs::remove_all(directory_ / kTemporary, error);
    for (const char* part : {kTemporary, kQuarantine}) {
        fs::create_directories(directory_ / part, error);
        if (error) {
            throw StoreError("cannot create " + (directory_ / part).string() + ": " + error.message());
        }
    }
}

Hash256 ContentStore::put(ByteView bytes) const {
    static std::atomic<std::uint64_t> counter{0};
    const Hash256 hash = crypto::sha256(bytes);
    const fs::path target = path(hash);
    std::error_code error;
    // A file of another size cannot be the one: writing it again repairs it.
    if (fs::file_size(target, error) == bytes.size() && !error) {
        return hash;
    }
    const fs::path temporary = directory_ / kTemporary / (to_hex(hash.view()) + "." + std::to_string(++counter));
    try {
        const File file(temporary, O_WRONLY | O_CREAT | O_TRUNC);
        file.write(bytes);
        file.sync();
    } catch (const StoreError&) {
        fs::remove(temporary, error);  // part of a file on a full disk would keep it full
        throw;
    }
    fs::rename(temporary, target, error);
    if (error) {
        throw StoreError("cannot rename " + temporary.string() + ": " + error.message());
    }
    File(directory_, O_RDONLY | O_DIRECTORY).sync();
    return hash;
}

std::optional<Bytes> ContentStore::get(const Hash256& hash) const {
    const fs::path source = path(hash);
    if (!fs::exists(source)) {
        return std::nullopt;
    }
    Bytes bytes = read_all(source);
    if (crypto::sha256(bytes) != hash) {
        std::error_code error;
        fs::rename(source, directory_ / kQuarantine / source.filename(), error);
        return std::nullopt;
    }
    return bytes;
}

bool ContentStore::has(const Hash256& hash) const { return fs::exists(path(hash)); }

void ContentStore::remove(const Hash256& hash) const {
    std::error_code ignored;
    fs::remove(path(hash), ignored);
}

std::vector<ContentStore::Entry> ContentStore::entries() const {
    std::vector<std::pair<fs::file_time_type, Entry>> found;
    std::error_code error;
    for (const fs::directory_entry& file : fs::directory_iterator(directory_, error)) {
        const auto hash = fixed_from_hex<Hash256>(file.path().filename().string());
        std::error_code gone;
        const std::uint64_t size = hash ? file.file_size(gone) : 0;
        const fs::file_time_type time = hash ? file.last_write_time(gone) : fs::file_time_type{};
        if (hash && !gone) {
            found.push_back({time, {*hash, size}});
        }
    }
    std::sort(found.begin(), found.end(), [](const auto& a, const auto& b) {
        return std::pair(a.first, a.second.hash) < std::pair(b.first, b.second.hash);
    });
    std::vector<Entry> out;
    out.reserve(found.size());
    for (const auto& [time, entry] : found) {
        out.push_back(entry);
    }
    return out;
}

std::filesystem::path ContentStore::path(const Hash256& hash) const { return directory_ / to_hex(hash.view()); }

}  // namespace assay::artifacts
