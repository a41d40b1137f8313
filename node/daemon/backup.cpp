// SPDX-License-Identifier: Apache-2.0
#include <node/daemon/backup.hpp>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <limits>
#include <optional>

#include <fcntl.h>
#include <unistd.h>

#include <nlohmann/json.hpp>

#include <consensus/solo/block_log.hpp>
#include <core/crypto/hash.hpp>
#include <core/system/file.hpp>
#include <core/system/sync_folder.hpp>
#include <node/api/genesis_file.hpp>
#include <node/daemon/application.hpp>
#include <node/daemon/replay.hpp>
#include <node/state/store.hpp>

namespace assay::node {
namespace {

namespace fs = std::filesystem;
using nlohmann::ordered_json;

constexpr int kFormat = 1;
constexpr const char* kManifest = "manifest.json";

/// What a node signs with; two nodes that sign with one key are punished for it.
constexpr std::array<const char*, 4> kSecretFiles{
    "node_key", "rpc_token", "cometbft/config/priv_validator_key.json", "cometbft/config/node_key.json"};
/// What belongs to one run of a node, or is made again. The last one is the record of what the validator has signed: an
/// old one would let it sign those heights once more.
constexpr std::array<const char*, 7> kTransient{
    "data/lock",
    "data/rpc_address",
    "data/metrics_address",
    "data/cometbft.log",
    "data/clean_stop",
    "data/blocks.log.torn",
    "cometbft/data/priv_validator_state.json"};

struct Entry {
    std::string path;  ///< relative to the home
    std::uint64_t size = 0;
    Hash256 sha256;
};

bool contains(const auto& list, const std::string& path) {
    return std::find(list.begin(), list.end(), path) != list.end();
}

class Descriptor {
  public:
    Descriptor(const fs::path& file, int flags, int mode) : fd_(::open(file.c_str(), flags | O_CLOEXEC, mode)) {
        if (fd_ < 0) {
            throw BackupError("cannot open " + file.string() + ": " + std::strerror(errno));
        }
    }
    ~Descriptor() { ::close(fd_); }
    Descriptor(const Descriptor&) = delete;
    Descriptor& operator=(const Descriptor&) = delete;
    int get() const { return fd_; }

  private:
    int fd_;
};

/// Copies the first `size` bytes of a file, or all of it, to a new file that only its owner can read, and syncs it.
Entry copy(const fs::path& from, const fs::path& to, const std::string& path, std::optional<std::uint64_t> size = {}) {
    fs::create_directories(to.parent_path());
    const Descriptor in(from, O_RDONLY, 0);
    const Descriptor out(to, O_WRONLY | O_CREAT | O_EXCL, 0600);
    crypto::Sha256 hash;
    Bytes buffer(1U << 20U);
    Entry entry{.path = path, .size = 0, .sha256 = {}};
    const std::uint64_t end = size.value_or(std::numeric_limits<std::uint64_t>::max());
    while (entry.size < end) {
        const auto want = static_cast<std::size_t>(std::min<std::uint64_t>(buffer.size(), end - entry.size));
        const ssize_t got = ::read(in.get(), buffer.data(), want);
        if (got < 0) {
            throw BackupError("cannot read " + from.string() + ": " + std::strerror(errno));
        }
        if (got == 0) {
            break;
        }
        const ByteView piece(buffer.data(), static_cast<std::size_t>(got));
        hash.update(piece);
        for (std::size_t done = 0; done < piece.size();) {
            const ssize_t put = ::write(out.get(), piece.data() + done, piece.size() - done);
            if (put <= 0) {
                throw BackupError("cannot write " + to.string() + ": " + std::strerror(errno));
            }
            done += static_cast<std::size_t>(put);
        }
        entry.size += piece.size();
    }
    if (size && entry.size != *size) {
        throw BackupError(from.string() + " became shorter while it was copied: is the disk failing?");
    }
    if (::fsync(out.get()) != 0) {
        throw BackupError("cannot write " + to.string() + ": " + std::strerror(errno));
    }
    entry.sha256 = hash.finish();
    return entry;
}

/// "dir/" and "dir" are one directory, and only the latter can be followed by ".partial".
fs::path without_slash(const fs::path& path) {
    const fs::path out = path.lexically_normal();
    return out.has_filename() ? out : out.parent_path();
}

/// Where something is made before it gets its name. What an earlier attempt left there is removed.
fs::path begin_at(const fs::path& name) {
    fs::path out = name.string() + ".partial";
    fs::remove_all(out);
    fs::create_directories(out);
    fs::permissions(out, fs::perms::owner_all);
    return out;
}

void finish_as(const fs::path& partial, const fs::path& name) {
    system::sync_folder(partial);
    fs::rename(partial, name);
    system::sync_folder(name.parent_path());
}

std::string to_json(const BackupReport& report, const std::vector<Entry>& entries) {
    auto files = ordered_json::array();
    for (const Entry& entry : entries) {
        files.push_back({{"path", entry.path}, {"size", entry.size}, {"sha256", to_hex(entry.sha256.view())}});
    }
    return ordered_json{
               {"format", kFormat},
               {"made_by", std::string("assayd ") + ASSAY_VERSION},
               {"made_at", utc_now()},
               {"chain_id", report.chain_id},
               {"engine", to_string(report.engine)},
               {"height", report.height.value},
               {"app_hash", to_hex(report.app_hash.view())},
               {"has_keys", report.has_keys},
               {"files", files}}
               .dump(2) +
           "\n";
}

/// A path that leads out of the home would let a manifest overwrite anything.
bool is_inside(const std::string& path) {
    const fs::path given(path);
    return !path.empty() && given.is_relative() && given == given.lexically_normal() && *given.begin() != "..";
}

struct Manifest {
    BackupReport report;
    std::vector<Entry> entries;
};

Manifest decode_manifest(const fs::path& file) {
    const auto text = system::read_file(file);
    if (!text) {
        throw BackupError("cannot read " + file.string() + ": is this a backup that assayd made?");
    }
    try {
        const auto json = nlohmann::json::parse(*text);
        if (json.at("format") != kFormat) {
            throw BackupError(file.string() + " has a format that this assayd does not know: use a later one");
        }
        const auto engine = decode_engine(json.at("engine").get<std::string>());
        const auto app_hash = fixed_from_hex<Hash256>(json.at("app_hash").get<std::string>());
        if (!engine || !app_hash) {
            throw BackupError(file.string() + " is damaged");
        }
        Manifest out;
        out.report = {
            .chain_id = json.at("chain_id").get<std::string>(),
            .engine = *engine,
            .height = Height{json.at("height").get<std::uint64_t>()},
            .app_hash = *app_hash,
            .has_keys = json.at("has_keys").get<bool>()};
        for (const auto& each : json.at("files")) {
            const auto sha256 = fixed_from_hex<Hash256>(each.at("sha256").get<std::string>());
            const auto path = each.at("path").get<std::string>();
            if (!sha256 || !is_inside(path)) {
                throw BackupError(file.string() + " is damaged at the file \"" + path + "\"");
            }
            out.entries.push_back({.path = path, .size = each.at("size").get<std::uint64_t>(), .sha256 = *sha256});
            out.report.bytes += out.entries.back().size;
        }
        out.report.files = out.entries.size();
        return out;
    } catch (const nlohmann::json::exception& error) {
        throw BackupError(file.string() + " is damaged: " + error.what());
    }
}

/// Height and app hash of the database, which nobody else may have open.
consensus::Info info_of_database(const Home& home, const contracts::Genesis& genesis) {
    storage::Store store(home.db(), {.in_memory = false, .fault = {}});
    Application application(
        store, [] { return std::uint64_t{0}; }, true
    );
    application.init(genesis);
    return application.info();
}

/// All regular files in these directories of the home, which may be absent, but keys and what belongs to one run.
std::vector<std::string> files_of(const Home& home, const std::vector<fs::path>& parts) {
    std::vector<std::string> out;
    for (const fs::path& part : parts) {
        if (!fs::exists(part)) {
            continue;
        }
        for (const auto& entry : fs::recursive_directory_iterator(part)) {
            const std::string path = entry.path().lexically_relative(home.root).string();
            if (entry.is_regular_file() && !entry.is_symlink() && !contains(kTransient, path) &&
                !contains(kSecretFiles, path)) {
                out.push_back(path);
            }
        }
    }
    std::sort(out.begin(), out.end());
    return out;
}

std::vector<Entry> copy_solo(const Home& home, const fs::path& to, BackupReport& report) {
    const solo::BlockLog log(home.block_log(), solo::BlockLog::Mode::kReadOnly);
    report.height = log.height();
    if (const auto last = log.read(log.height())) {
        report.app_hash = last->app_hash;
    }
    std::vector<Entry> out{copy(home.block_log(), to / "data/blocks.log", "data/blocks.log", log.size_bytes())};
    for (const std::string& path : files_of(home, {home.log_base()})) {
        out.push_back(copy(home.root / path, to / path, path));
    }
    return out;
}

std::vector<Entry> copy_cometbft(
    const Home& home, const contracts::Genesis& genesis, const fs::path& to, BackupReport& report
) {
    const consensus::Info info = info_of_database(home, genesis);
    report.height = info.height;
    report.app_hash = info.app_hash;
    std::vector<Entry> out;
    for (const std::string& path : files_of(home, {home.data(), home.cometbft()})) {
        out.push_back(copy(home.root / path, to / path, path));
    }
    return out;
}

/// CometBFT's database has no copy that is whole while it writes, so nobody may run here. Throws HomeError.
std::optional<HomeLock> hold(const BackupOptions& options) {
    if (options.engine == EngineKind::kSolo) {
        return std::nullopt;
    }
    if (options.is_attached) {
        throw BackupError(
            "cometbft.attach is set: the CometBFT of this node runs by itself and its data is elsewhere. Stop both and "
            "copy their directories, or let a new node join by state sync"
        );
    }
    try {
        return std::make_optional<HomeLock>(options.home);
    } catch (const HomeError& error) {
        throw BackupError(
            std::string("a home with CometBFT is backed up while its node is stopped, since the engine's database "
                        "cannot be copied while it is written: ") +
            error.what()
        );
    }
}

}  // namespace

BackupReport make_backup(const BackupOptions& options) {
    const Home& home = options.home;
    const fs::path out = without_slash(options.out);
    if (fs::exists(out)) {
        throw BackupError(out.string() + " exists already: name a directory that does not");
    }
    const auto genesis = read_genesis(home.genesis());
    const auto lock = hold(options);
    BackupReport report{.chain_id = genesis.chain_id, .engine = options.engine, .has_keys = options.with_keys};
    const fs::path to = begin_at(out);
    std::vector<Entry> entries =
        options.engine == EngineKind::kSolo ? copy_solo(home, to, report) : copy_cometbft(home, genesis, to, report);
    for (const char* path : {"genesis.json", "config.toml"}) {
        entries.push_back(copy(home.root / path, to / path, path));
    }
    for (const char* path : kSecretFiles) {
        if (options.with_keys && fs::exists(home.root / path)) {
            entries.push_back(copy(home.root / path, to / path, path));
        }
    }
    for (const Entry& entry : entries) {
        report.bytes += entry.size;
    }
    report.files = entries.size();
    if (!system::write_file(to / kManifest, to_json(report, entries))) {
        throw BackupError("cannot write " + (to / kManifest).string());
    }
    finish_as(to, out);
    return report;
}

BackupReport restore_backup(
    const fs::path& from, const Home& to, const std::function<void(Height done, Height of)>& progress
) {
    const Home home{without_slash(to.root)};
    if (fs::exists(home.root) && !fs::is_empty(home.root)) {
        throw BackupError(
            home.root.string() + " is not empty: nothing is overwritten. Name a new --home, or move this one away"
        );
    }
    const Manifest manifest = decode_manifest(from / kManifest);
    const Home partial{begin_at(home.root)};
    for (const Entry& entry : manifest.entries) {
        const Entry copied = copy(from / entry.path, partial.root / entry.path, entry.path);
        if (copied.size != entry.size || copied.sha256 != entry.sha256) {
            throw BackupError(
                (from / entry.path).string() + " is damaged: it has " + std::to_string(copied.size) +
                " bytes with the SHA-256 " + to_hex(copied.sha256.view()) + ", and " + kManifest + " says " +
                std::to_string(entry.size) + " and " + to_hex(entry.sha256.view()) + ". Use another backup"
            );
        }
    }
    const auto genesis = read_genesis(partial.genesis());
    const BackupReport& said = manifest.report;
    Height height;
    Hash256 app_hash;
    if (said.engine == EngineKind::kSolo) {
        const ReplayReport replayed = replay_log(genesis, partial.block_log(), partial.log_base(), progress);
        height = replayed.height;
        app_hash = replayed.app_hash;
    } else {
        const consensus::Info info = info_of_database(partial, genesis);
        height = info.height;
        app_hash = info.app_hash;
    }
    // An empty log has no last app hash to compare.
    if (height != said.height || (height.value != 0 && app_hash != said.app_hash)) {
        throw BackupError(
            "the restored chain is at height " + std::to_string(height.value) + " with the app hash " +
            to_hex(app_hash.view()) + ", and the backup was made at height " + std::to_string(said.height.value) +
            " with " + to_hex(said.app_hash.view()) + ": its files do not belong together. Use another backup"
        );
    }
    if (fs::exists(home.root)) {
        fs::remove(home.root);
    }
    finish_as(partial.root, home.root);
    BackupReport out = said;
    out.app_hash = app_hash;
    return out;
}

}  // namespace assay::node
