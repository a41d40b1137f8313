// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <chrono>
#include <filesystem>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>

#include <core/sealed/files/check.hpp>
#include <tools/cli/common/add_command.hpp>
#include <tools/cli/common/arguments.hpp>
#include <tools/cli/common/commands.hpp>
#include <tools/cli/common/table.hpp>
#include <tools/cli/store/store_text.hpp>
#include <verifier/artifacts/fetch.hpp>
#include <verifier/artifacts/sealing.hpp>
#include <verifier/artifacts/store.hpp>

namespace assay::cli {
namespace {

using nlohmann::json;

struct StoreArguments {
    std::string directory;
    std::string location;                ///< of commands that take one
    std::vector<std::string> locations;  ///< of those that take several
    std::vector<std::string> artifacts;
    std::string out;
    std::uint64_t older_than_h = 0;
    bool is_dry = false;
    bool is_unpinning = false;
    bool is_sealed = false;
};

std::vector<Hash256> artifact_names(const StoreArguments& a) {
    std::vector<Hash256> out;
    for (const std::string& text : a.artifacts) {
        out.push_back(decode_id<Hash256>(text, "artifact"));
    }
    return out;
}

std::uint64_t seconds_now() {
    const auto now = std::chrono::system_clock::now().time_since_epoch();
    return static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::seconds>(now).count());
}

/// Says now and then how far a transfer is.
class Meter {
  public:
    Meter(const Session& session, std::string what, std::uint64_t of_bytes)
        : session_(session), what_(std::move(what)), of_(of_bytes) {}
    void add(std::uint64_t bytes) {
        done_ += bytes;
        const auto now = std::chrono::steady_clock::now();
        if (now - told_ >= std::chrono::seconds(2)) {
            told_ = now;
            session_.progress(what_ + ": " + size_text(done_) + " of " + size_text(of_));
        }
    }

  private:
    const Session& session_;
    std::string what_;
    std::uint64_t of_;
    std::uint64_t done_ = 0;
    std::chrono::steady_clock::time_point told_ = std::chrono::steady_clock::now();
};

json entry_json(const stores::StoredEntry& entry) {
    json out{
        {"artifact", to_hex(entry.artifact.view())}, {"size_bytes", entry.size_bytes}, {"is_pinned", entry.is_pinned}};
    out["written_s"] = entry.written_s ? json(*entry.written_s) : json(nullptr);
    return out;
}

/// What of the store is to be written: everything, or what the arguments name.
std::vector<artifacts::ContentStore::Entry> chosen(const artifacts::ContentStore& store, const StoreArguments& a) {
    auto entries = store.entries();
    if (a.artifacts.empty()) {
        return entries;
    }
    const auto names = artifact_names(a);
    for (const Hash256& name : names) {
        if (!store.has(name)) {
            throw Failure(kExitNotFound, "not_found", a.directory + " has no artifact " + to_hex(name.view()));
        }
    }
    std::erase_if(entries, [&](const auto& entry) {
        return std::find(names.begin(), names.end(), entry.hash) == names.end();
    });
    return entries;
}

std::string put_chosen(
    const Session& session, const artifacts::ContentStore& store,
    const std::vector<artifacts::ContentStore::Entry>& entries, const std::string& location
) {
    const auto to = open_argument(location);
    std::uint64_t bytes = 0;
    for (const auto& entry : entries) {
        bytes += entry.size_bytes;
    }
    Meter meter(session, "writing to " + location, bytes);
    const auto note = [&meter](std::uint64_t written) { meter.add(written); };
    for (const auto& entry : entries) {
        if (const auto leaves = store.leaves(entry.hash)) {
            to->put({entry.hash, true}, leaves->path(), note);
        }
        to->put({entry.hash, false}, store.path(entry.hash), note);
    }
    return to->finish();
}

int run_put(const Session& session, const StoreArguments& a) {
    if (!std::filesystem::is_directory(a.directory)) {
        throw usage(a.directory + " is no directory", "`assay task pack DIR --store STORE` makes a store");
    }
    const artifacts::ContentStore store(a.directory);
    const auto entries = chosen(store, a);
    json written = json::array();
    std::string all;
    with_store([&] {
        for (const std::string& location : a.locations) {
            const std::string named = put_chosen(session, store, entries, location);
            written.push_back(named);
            all += (all.empty() ? "" : " ") + named;
        }
    });
    json items = json::array();
    for (const auto& entry : entries) {
        items.push_back({{"artifact", to_hex(entry.hash.view())}, {"size_bytes", entry.size_bytes}});
    }
    session.print(
        {{"artifacts", items}, {"locations", written}, {"location", all}},
        std::to_string(entries.size()) + " artifacts are written; a task names them by\n--location \"" + all + "\""
    );
    return kExitOk;
}

Failure not_fetched(const std::string& name, artifacts::FetchError error) {
    const std::string what = "artifact " + name + ": " + to_string(error);
    switch (error) {
        case artifacts::FetchError::kUnreachable:
            return {
                kExitUnreachable, "unreachable", what, {{"hint", "the same command goes on with what has arrived"}}};
        case artifacts::FetchError::kMissing:
            return {kExitNotFound, "not_found", what, {{"hint", "`assay store ls LOCATION` lists what is there"}}};
        case artifacts::FetchError::kMismatch:
            return {
                kExitInvalidArtifact,
                "mismatch",
                what,
                {{"hint",
                  "give --sealed if it is the root of a private task's sealed file; a checkpoint has its state's root "
                  "for a name, and `assay task fetch` checks it against the chain"}}};
        default:
            return {kExitFailure, "failure", what};
    }
}

/// What the first location that has the artifact says of its size. Whether that is right, its hash tells.
std::uint64_t size_at(const StoreArguments& a, const Hash256& name) {
    std::exception_ptr unreachable;
    for (const std::string& location : a.locations) {
        try {
            http::HttpLimits limits;
            if (const auto size = open_argument(location)->size_of({name, false}, limits)) {
                return *size;
            }
        } catch (const http::NetError&) {
            unreachable = std::current_exception();
        }
    }
    if (unreachable) {
        std::rethrow_exception(unreachable);
    }
    throw not_fetched(to_hex(name.view()), artifacts::FetchError::kMissing);
}

/// The sealed file of this root, if the store has it as it should be. A damaged one goes to quarantine.
std::optional<artifacts::StoredFile> get_sealed(const artifacts::ContentStore& store, const Hash256& name) {
    auto file = store.open(name);
    if (!file) {
        return std::nullopt;
    }
    const auto root = sealed::check_sealed(
        artifacts::StoredSource(*file), {.threads = std::max(1U, std::thread::hardware_concurrency())}
    );
    if (!root || *root != name) {
        artifacts::ContentStore::quarantine(*file);
        return std::nullopt;
    }
    return file;
}

int run_get(const Session& session, const StoreArguments& a) {
    const Hash256 name = artifact_names(a).front();
    const artifacts::ContentStore store(a.directory);
    std::optional<artifacts::StoredFile> file = a.is_sealed ? get_sealed(store, name) : store.get(name);
    with_store([&] {
        if (file) {
            return;
        }
        const artifacts::Reference wanted{
            .name = name,
            .size_bytes = size_at(a, name),
            .location = a.locations.front(),
            .state = nullptr,
            .is_sealed = a.is_sealed};
        artifacts::FetchLimits limits{.mirrors = a.locations, .credentials = stores::credentials_of_environment()};
        session.progress("fetching " + size_text(wanted.size_bytes));
        auto fetched = artifacts::download(wanted, store, limits);
        if (!fetched) {
            throw not_fetched(to_hex(name.view()), fetched.error());
        }
        file = *std::move(fetched);
    });
    std::string path = file->path().string();
    if (!a.out.empty()) {
        std::error_code error;
        std::filesystem::copy_file(path, a.out, std::filesystem::copy_options::overwrite_existing, error);
        if (error) {
            throw Failure(kExitFailure, "store", "cannot write " + a.out + ": " + error.message());
        }
        path = a.out;
    }
    session.print(
        {{"artifact", to_hex(name.view())},
         {"size_bytes", file->size_bytes()},
         {"file", path},
         {"is_sealed", a.is_sealed}},
        size_text(file->size_bytes()) + " with the right " + (a.is_sealed ? "sealed root" : "SHA-256") + " are in " +
            path
    );
    return kExitOk;
}

int run_ls(const Session& session, const StoreArguments& a) {
    std::vector<stores::StoredEntry> entries;
    with_store([&] { entries = open_argument(a.location)->list(); });
    json items = json::array();
    Table table({"artifact", "size>", "pinned"});
    for (const stores::StoredEntry& entry : entries) {
        items.push_back(entry_json(entry));
        table.add({to_hex(entry.artifact.view()), size_text(entry.size_bytes), entry.is_pinned ? "yes" : ""});
    }
    session.print({{"artifacts", items}}, entries.empty() ? "nothing is there" : table.text());
    return kExitOk;
}

int run_pin(const Session& session, const StoreArguments& a) {
    const auto names = artifact_names(a);
    with_store([&] {
        const auto store = open_argument(a.location);
        for (const Hash256& name : names) {
            session.progress((a.is_unpinning ? "unpinning " : "pinning ") + to_hex(name.view()));
            store->set_pinned(name, !a.is_unpinning);
        }
    });
    session.print(
        {{"pinned", !a.is_unpinning}, {"artifacts", a.artifacts}},
        std::to_string(names.size()) + (a.is_unpinning ? " artifacts are pinned no more" : " artifacts are pinned")
    );
    return kExitOk;
}

int run_gc(const Session& session, const StoreArguments& a) {
    std::vector<stores::StoredEntry> garbage;
    const auto names = artifact_names(a);
    with_store([&] {
        const auto store = open_argument(a.location);
        garbage = garbage_among(store->list(), seconds_now(), a.older_than_h * 3'600, names);
        for (const stores::StoredEntry& entry : garbage) {
            if (!a.is_dry) {
                session.progress("deleting " + to_hex(entry.artifact.view()));
                store->remove(entry.artifact);
            }
        }
    });
    json items = json::array();
    std::uint64_t bytes = 0;
    for (const stores::StoredEntry& entry : garbage) {
        items.push_back(entry_json(entry));
        bytes += entry.size_bytes;
    }
    session.print(
        {{"deleted", items}, {"size_bytes", bytes}, {"is_dry_run", a.is_dry}},
        std::to_string(garbage.size()) + " artifacts of " + size_text(bytes) +
            (a.is_dry ? " would be deleted" : " are deleted")
    );
    return kExitOk;
}

int run_status(const Session& session, const StoreArguments& a) {
    json items = json::array();
    Table table({"location", "artifacts>", "bytes>", "pinned>", "state"});
    int code = kExitOk;
    for (const std::string& location : a.locations) {
        try {
            with_store([&] {
                std::uint64_t bytes = 0;
                std::uint64_t pinned = 0;
                const auto entries = open_argument(location)->list();
                for (const stores::StoredEntry& entry : entries) {
                    bytes += entry.size_bytes;
                    pinned += entry.is_pinned ? 1 : 0;
                }
                items.push_back(
                    {{"location", location},
                     {"is_usable", true},
                     {"artifacts", entries.size()},
                     {"size_bytes", bytes},
                     {"pinned", pinned}}
                );
                table.add({location, std::to_string(entries.size()), size_text(bytes), std::to_string(pinned), "usable"}
                );
            });
        } catch (const Failure& failure) {
            code = code == kExitOk ? failure.exit_code : code;
            items.push_back({{"location", location}, {"is_usable", false}, {"why", failure.what()}});
            table.add({location, "", "", "", failure.what()});
        }
    }
    session.print({{"locations", items}}, table.text());
    return code;
}

void add_location_argument(CLI::App& command, StoreArguments& a) {
    command.add_option("location", a.location, "As in dir:/PATH, s3://BUCKET/PREFIX?endpoint=URL or ipfs://CID")
        ->required();
}

void add_store_writing(CLI::App& group, Session& session) {
    auto put = std::make_shared<StoreArguments>();
    CLI::App& command = *add_command(
        group, session, "put", "Write a store's artifacts to locations, and print what a task names", put, run_put
    );
    command.add_option("artifact", put->artifacts, "Their names, 64 hex digits each; default: all");
    command.add_option("--store", put->directory, "The store, which `assay task pack` makes")->required();
    command.add_option("--to", put->locations, "Location; may be given several times")->required();
}

void add_store_reading(CLI::App& group, Session& session) {
    auto get = std::make_shared<StoreArguments>();
    CLI::App& command = *add_command(
        group, session, "get",
        "Fetch an artifact by its SHA-256, or a sealed file by its root, from any of several locations", get, run_get
    );
    command.add_option("artifact", get->artifacts, "Its SHA-256 or root, 64 hex digits")->required()->expected(1);
    command.add_flag("--sealed", get->is_sealed, "It is a private task's: the name is the root of a sealed file");
    command.add_option("--from", get->locations, "Location; may be given several times")->required();
    command.add_option("--store", get->directory, "The store that it goes into; made when missing")->required();
    command.add_option("--out", get->out, "Copy it to this file, too");
}

}  // namespace

void add_store_commands(CLI::App& app, Session& session) {
    CLI::App& group = *app.add_subcommand("store", "Artifacts in directories, S3 and IPFS")->require_subcommand(1);
    add_store_writing(group, session);
    add_store_reading(group, session);
    auto listed = std::make_shared<StoreArguments>();
    add_location_argument(*add_command(group, session, "ls", "List what lies at a location", listed, run_ls), *listed);
    auto pinned = std::make_shared<StoreArguments>();
    CLI::App& pin = *add_command(group, session, "pin", "Keep artifacts from being collected", pinned, run_pin);
    add_location_argument(pin, *pinned);
    pin.add_option("artifact", pinned->artifacts, "Their names, 64 hex digits each")->required();
    pin.add_flag("--unpin", pinned->is_unpinning, "Let them be collected instead");
    auto collected = std::make_shared<StoreArguments>();
    CLI::App& gc =
        *add_command(group, session, "gc", "Delete artifacts that are old and not pinned", collected, run_gc);
    add_location_argument(gc, *collected);
    gc.add_option("artifact", collected->artifacts, "Only these; of IPFS, which knows no times, nothing else");
    gc.add_option("--older-than", collected->older_than_h, "Hours since they were written")
        ->check(CLI::Range(0, 1'000'000))
        ->default_val(720);
    gc.add_flag("--dry-run", collected->is_dry, "Say what would be deleted");
    auto asked = std::make_shared<StoreArguments>();
    CLI::App& status = *add_command(
        group, session, "status", "Say of each location whether it can be used, and what is there", asked, run_status
    );
    status.add_option("location", asked->locations, "One or several")->required();
}

}  // namespace assay::cli
