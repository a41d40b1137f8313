// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <atomic>
#include <cerrno>
#include <fstream>
#include <limits>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <verifier/stores/kinds.hpp>

namespace assay::stores {
namespace {

namespace fs = std::filesystem;
constexpr std::size_t kPieceBytes = 1U << 20U;

/// A descriptor that is closed at the end.
class Descriptor {
  public:
    explicit Descriptor(int number) : number_(number) {}
    ~Descriptor() {
        if (number_ >= 0) {
            ::close(number_);
        }
    }
    Descriptor(const Descriptor&) = delete;
    Descriptor& operator=(const Descriptor&) = delete;
    int number() const { return number_; }

  private:
    int number_;
};

/// The layout is that of the stores that `assay task pack` and workers write.
class DirectoryStore final : public Store {
  public:
    explicit DirectoryStore(const DirectoryLocation& at) : Store(encode_location(at)), root_(at.path) {}

    ReadEnd read(
        const ObjectName& object, std::uint64_t first, std::optional<std::uint64_t> last, const http::BodySink& sink,
        const http::HttpLimits& limits
    ) override {
        const Descriptor file = open(object);
        if (file.number() < 0) {
            return ReadEnd::kMissing;
        }
        const std::uint64_t end = last ? *last + 1 : std::numeric_limits<std::uint64_t>::max();
        std::vector<std::uint8_t> piece(kPieceBytes);
        while (first < end) {
            if (limits.stop && limits.stop()) {
                throw http::NetTimeout(location() + ": stopped");
            }
            const std::size_t wanted = static_cast<std::size_t>(std::min<std::uint64_t>(piece.size(), end - first));
            const ssize_t got = ::pread(file.number(), piece.data(), wanted, static_cast<off_t>(first));
            if (got < 0) {
                throw http::NetError(
                    location() + "/" + path_of(object) + ": " + std::generic_category().message(errno)
                );
            }
            if (got == 0 || !sink(first, ByteView(piece.data(), static_cast<std::size_t>(got)))) {
                break;
            }
            first += static_cast<std::uint64_t>(got);
        }
        return ReadEnd::kDone;
    }

    std::optional<std::uint64_t> size_of(const ObjectName& object, const http::HttpLimits&) override {
        const Descriptor file = open(object);
        struct stat status {};
        const bool is_there = file.number() >= 0 && ::fstat(file.number(), &status) == 0;
        return is_there ? std::optional(static_cast<std::uint64_t>(status.st_size)) : std::nullopt;
    }

    void put(const ObjectName& object, const fs::path& file, const Progress& progress) override {
        std::ifstream in(file, std::ios::binary);
        if (!in) {
            throw StoreRefused(RefusalKind::kMissing, "cannot read " + file.string());
        }
        write(path_of(object), [&](std::ofstream& out) {
            std::vector<char> piece(kPieceBytes);
            while (in.read(piece.data(), static_cast<std::streamsize>(piece.size())) || in.gcount() > 0) {
                out.write(piece.data(), in.gcount());
                if (is_stopped()) {
                    throw http::NetTimeout(location() + ": stopped");
                }
                if (progress) {
                    progress(static_cast<std::uint64_t>(in.gcount()));
                }
            }
            if (in.bad()) {
                throw StoreRefused(RefusalKind::kRefused, "cannot read " + file.string());
            }
        });
    }

    std::vector<StoredEntry> list() override {
        std::vector<StoredEntry> out;
        std::error_code error;
        for (const fs::directory_entry& entry : fs::directory_iterator(root_, error)) {
            const auto hash = fixed_from_hex<Hash256>(entry.path().filename().string());
            struct stat status {};
            if (hash && ::stat(entry.path().c_str(), &status) == 0 && S_ISREG(status.st_mode)) {
                out.push_back(
                    {.artifact = *hash,
                     .size_bytes = static_cast<std::uint64_t>(status.st_size),
                     .is_pinned = fs::exists(root_ / pin_path_of(*hash)),
                     .written_s = static_cast<std::uint64_t>(status.st_mtime)}
                );
            }
        }
        if (error) {
            throw StoreRefused(RefusalKind::kRefused, "cannot list " + root_.string() + ": " + error.message());
        }
        std::sort(out.begin(), out.end(), [](const auto& a, const auto& b) { return a.artifact < b.artifact; });
        return out;
    }

    void set_pinned(const Hash256& artifact, bool is_pinned) override {
        if (is_pinned) {
            write(pin_path_of(artifact), [](std::ofstream&) {});
            return;
        }
        erase(pin_path_of(artifact));
    }

    void remove(const Hash256& artifact) override {
        erase(path_of({artifact, true}));
        erase(path_of({artifact, false}));
    }

  private:
    /// Only regular files: a pipe would keep whoever opens it waiting.
    Descriptor open(const ObjectName& object) const {
        const int number = ::open((root_ / path_of(object)).c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
        struct stat status {};
        if (number >= 0 && (::fstat(number, &status) != 0 || !S_ISREG(status.st_mode))) {
            ::close(number);
            return Descriptor(-1);
        }
        return Descriptor(number);
    }

    /// A file appears under its name when it is complete and on the disk.
    template <class Fill>
    void write(const std::string& name, const Fill& fill) const {
        static std::atomic<std::uint64_t> counter{0};
        const fs::path temporary = root_ / "tmp" / (std::to_string(::getpid()) + "-s" + std::to_string(++counter));
        std::error_code error;
        fs::create_directories(temporary.parent_path(), error);
        fs::create_directories((root_ / name).parent_path(), error);
        std::ofstream out(temporary, std::ios::binary | std::ios::trunc);
        fill(out);
        out.close();
        const Descriptor written(::open(temporary.c_str(), O_RDONLY | O_CLOEXEC));
        const bool is_whole = !out.fail() && written.number() >= 0 && ::fsync(written.number()) == 0;
        if (is_whole) {
            fs::rename(temporary, root_ / name, error);
        }
        if (!is_whole || error) {
            std::error_code ignored;
            fs::remove(temporary, ignored);
            throw StoreRefused(
                RefusalKind::kRefused, "cannot write " + (root_ / name).string() +
                                           ": is the directory writable, and is there room on the disk?"
            );
        }
    }

    void erase(const std::string& name) const {
        std::error_code error;
        fs::remove(root_ / name, error);
        if (error) {
            throw StoreRefused(
                RefusalKind::kRefused, "cannot delete " + (root_ / name).string() + ": " + error.message()
            );
        }
    }

    fs::path root_;
};

}  // namespace

std::unique_ptr<Store> make_directory_store(const DirectoryLocation& location) {
    return std::make_unique<DirectoryStore>(location);
}

}  // namespace assay::stores
