// SPDX-License-Identifier: Apache-2.0
#include <verifier/artifacts/store.hpp>

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <string>
#include <system_error>
#include <utility>

namespace assay::artifacts {
namespace {

namespace fs = std::filesystem;
constexpr const char* kTemporary = "tmp";
constexpr const char* kQuarantine = "quarantine";

constexpr const char* kPartial = "partial";
constexpr const char* kLeaves = "leaves";

/// Of this process: several may have one store open, as `assay task serve` and `assay task submit` do.
std::string next_temporary_name() {
    static std::atomic<std::uint64_t> counter{0};
    return std::to_string(::getpid()) + "-" + std::to_string(++counter);
}

/// Whether a file with a temporary name belongs to a process that runs.
bool is_being_written(const fs::path& path) {
    const std::string name = path.filename().string();
    const std::size_t end = name.find('-');
    pid_t process = 0;
    const auto [read_to, error] = std::from_chars(name.data(), name.data() + std::min(end, name.size()), process);
    const bool is_number = end != std::string::npos && error == std::errc() && read_to == name.data() + end;
    return is_number && process > 0 && (::kill(process, 0) == 0 || errno == EPERM);
}

/// Removes what processes have left that were killed.
void clear_temporary(const fs::path& directory) {
    std::error_code error;
    for (const auto& file : fs::directory_iterator(directory, error)) {
        if (!is_being_written(file.path())) {
            fs::remove_all(file.path(), error);
        }
    }
}

bool has_size(const fs::path& path, std::uint64_t size_bytes) {
    std::error_code error;
    return fs::file_size(path, error) == size_bytes && !error;
}

/// The hash in a name of partial_path(); nullopt if it is none.
std::optional<Hash256> hash_of_partial(const fs::path& path) { return fixed_from_hex<Hash256>(path.stem().string()); }

}  // namespace

ContentStore::ContentStore(std::filesystem::path directory) : directory_(std::move(directory)) {
    std::error_code error;
    clear_temporary(directory_ / kTemporary);
    for (const char* part : {kTemporary, kQuarantine, kPartial, kLeaves}) {
        fs::create_directories(directory_ / part, error);
        if (error) {
            throw StoreError("cannot create " + (directory_ / part).string() + ": " + error.message());
        }
    }
}

ContentStore::Writer::Writer(const ContentStore& store)
    : store_(store),
      path_(store.directory_ / kTemporary / next_temporary_name()),
      file_(path_, O_WRONLY | O_CREAT | O_TRUNC) {}

ContentStore::Writer::Writer(const ContentStore& store, const Hash256& name) : Writer(store, Sealed{}) { name_ = name; }

ContentStore::Writer::Writer(const ContentStore& store, Sealed /*sealed*/) : Writer(store) { hashes_ = false; }

ContentStore::Writer::~Writer() {
    std::error_code gone;
    fs::remove(path_, gone);  // part of a file on a full disk would keep it full
}

void ContentStore::Writer::write(ByteView bytes) {
    if (hashes_) {
        hash_.update(bytes);
    }
    file_.write(bytes);
    size_bytes_ += bytes.size();
}

ContentStore::Entry ContentStore::Writer::finish() {
    const Hash256 name = name_ ? *name_ : hash_.finish();
    // A file of another size cannot be the one: writing it again repairs it.
    if (name_ || !has_size(store_.path(name), size_bytes_)) {
        file_.sync();
        store_.adopt(path_, name);
    }
    return {name, size_bytes_};
}

ContentStore::Entry ContentStore::Writer::finish(const Hash256& name) {
    name_ = name;
    return finish();
}

Hash256 ContentStore::put(ByteView bytes) const {
    const Hash256 hash = crypto::sha256(bytes);
    if (!has_size(path(hash), bytes.size())) {
        Writer writer(*this);
        writer.write(bytes);
        writer.finish();
    }
    return hash;
}

void ContentStore::adopt(const std::filesystem::path& complete, const Hash256& hash) const {
    std::error_code error;
    fs::rename(complete, path(hash), error);
    if (error) {
        throw StoreError("cannot rename " + complete.string() + ": " + error.message());
    }
    File(directory_, O_RDONLY | O_DIRECTORY).sync();
}

std::optional<StoredFile> ContentStore::get(const Hash256& hash) const {
    auto file = open(hash);
    if (file && file->sha256() != hash) {
        quarantine(*file);
        return std::nullopt;
    }
    return file;
}

std::optional<StoredFile> ContentStore::open(const Hash256& name) const { return StoredFile::open(path(name)); }

void ContentStore::quarantine(const StoredFile& file) {
    std::error_code error;
    fs::rename(file.path(), file.path().parent_path() / kQuarantine / file.path().filename(), error);
}

bool ContentStore::has(const Hash256& hash) const { return fs::exists(path(hash)); }

void ContentStore::remove(const Hash256& hash) const {
    std::error_code ignored;
    fs::remove(path(hash), ignored);
    fs::remove(leaves_path(path(hash)), ignored);
}

std::filesystem::path ContentStore::leaves_path(const std::filesystem::path& artifact) {
    return artifact.parent_path() / kLeaves / artifact.filename();
}

void ContentStore::put_leaves(const Hash256& hash, ByteView bytes) const {
    const fs::path temporary = directory_ / kTemporary / next_temporary_name();
    try {
        const File file(temporary, O_WRONLY | O_CREAT | O_TRUNC);
        file.write(bytes);
        file.sync();  // a checkpoint without them cannot be had (ART-15)
        fs::rename(temporary, leaves_path(path(hash)));
        File(directory_ / kLeaves, O_RDONLY | O_DIRECTORY).sync();
    } catch (const fs::filesystem_error& error) {
        throw StoreError(error.what());
    }
}

std::optional<StoredFile> ContentStore::leaves(const Hash256& hash) const {
    return StoredFile::open(leaves_path(path(hash)));
}

std::vector<ContentStore::Entry> ContentStore::entries() const {
    std::vector<std::pair<fs::file_time_type, Entry>> found;
    std::error_code error;
    for (const fs::directory_entry& file : fs::directory_iterator(directory_, error)) {
        const auto hash = fixed_from_hex<Hash256>(file.path().filename().string());
        std::error_code gone;
        std::uint64_t size = hash ? file.file_size(gone) : 0;
        const fs::file_time_type time = hash ? file.last_write_time(gone) : fs::file_time_type{};
        if (hash && !gone) {
            const std::uint64_t leaves_size = fs::file_size(leaves_path(file.path()), error);
            size += error ? 0 : leaves_size;
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

std::filesystem::path ContentStore::partial_path(const Hash256& hash, std::uint64_t size_bytes) const {
    return directory_ / kPartial / (to_hex(hash.view()) + "." + std::to_string(size_bytes));
}

std::vector<ContentStore::Entry> ContentStore::partials() const {
    constexpr std::uint64_t kBlockBytes = 512;  // the unit of st_blocks
    std::vector<Entry> out;
    std::error_code error;
    for (const fs::directory_entry& file : fs::directory_iterator(directory_ / kPartial, error)) {
        struct stat status {};
        if (const auto hash = hash_of_partial(file.path()); hash && ::stat(file.path().c_str(), &status) == 0) {
            out.push_back({*hash, static_cast<std::uint64_t>(status.st_blocks) * kBlockBytes});
        }
    }
    return out;
}

void ContentStore::remove_partials(const Hash256& hash) const {
    std::error_code error;
    std::vector<fs::path> found;
    for (const fs::directory_entry& file : fs::directory_iterator(directory_ / kPartial, error)) {
        if (hash_of_partial(file.path()) == hash) {
            found.push_back(file.path());
        }
    }
    for (const fs::path& partial : found) {
        fs::remove(partial, error);
    }
    if (!has(hash)) {
        fs::remove(leaves_path(path(hash)), error);
    }
}

std::filesystem::path ContentStore::path(const Hash256& hash) const { return directory_ / to_hex(hash.view()); }

}  // namespace assay::artifacts
