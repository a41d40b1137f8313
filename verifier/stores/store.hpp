// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <client/http/http.hpp>
#include <client/http/http_call.hpp>
#include <core/base/bytes.hpp>
#include <verifier/stores/credentials.hpp>
#include <verifier/stores/location.hpp>

/// Places where artifacts lie, of every kind that a location may name (ART-20 to ART-22). What they say is not trusted:
/// whoever reads checks each part against its hash.
namespace assay::stores {

/// A file of a store: an artifact, or the hashes beside it (ART-15, ART-17).
struct ObjectName {
    Hash256 artifact;
    bool is_leaves = false;
    auto operator<=>(const ObjectName&) const = default;
};

/// Why a store does not do what it was asked for.
enum class RefusalKind : std::uint8_t {
    kUnable = 1,       ///< a location of this kind cannot do it
    kCredentials = 2,  ///< credentials are missing, or the service does not accept them
    kMissing = 3,      ///< there is no such artifact
    kRefused = 4,      ///< the service or the disk said no
};
class StoreRefused : public std::runtime_error {
  public:
    StoreRefused(RefusalKind why, const std::string& text) : std::runtime_error(text), kind(why) {}
    RefusalKind kind;
};

enum class ReadEnd : std::uint8_t {
    kDone = 1,     ///< everything was handed over, or the sink ended it
    kMissing = 2,  ///< it is not there, or the service does not give it
    kWrong = 3,    ///< what came is not what the location's own hashes say
};

/// What lies in a store.
struct StoredEntry {
    Hash256 artifact;
    std::uint64_t size_bytes = 0;
    bool is_pinned = false;
    std::optional<std::uint64_t> written_s{};  ///< Unix time in seconds; nullopt: not known here
};

/// Told of bytes that were written.
using Progress = std::function<void(std::uint64_t bytes)>;

/// One location. Used by one thread at a time. Functions throw http::NetError if nobody answers in time, and
/// StoreRefused.
class Store {
  public:
    virtual ~Store() = default;
    /// The location, as errors name it.
    const std::string& location() const { return location_; }

    /// Hands over bytes `first` to `last`, both included, or to the end, in their order. A store that does not know
    /// ranges begins at 0. `limits.public_only` holds for what a stranger has named.
    virtual ReadEnd read(
        const ObjectName& object, std::uint64_t first, std::optional<std::uint64_t> last, const http::BodySink& sink,
        const http::HttpLimits& limits
    ) = 0;
    /// Size in bytes; nullopt if it is not there.
    virtual std::optional<std::uint64_t> size_of(const ObjectName& object, const http::HttpLimits& limits) = 0;

    /// Writes a file, replacing what is there.
    virtual void put(const ObjectName& object, const std::filesystem::path& file, const Progress& progress);
    /// After all put(): what a task or a checkpoint names as location.
    virtual std::string finish() { return location_; }
    virtual std::vector<StoredEntry> list();
    /// Keeps an artifact from being collected, or lets it be.
    virtual void set_pinned(const Hash256& artifact, bool is_pinned);
    /// Deletes an artifact and its hashes.
    virtual void remove(const Hash256& artifact);
    /// Asked now and then while something is written or listed; true ends it with NetTimeout.
    void set_stop(std::function<bool()> stop) { stop_ = std::move(stop); }

  protected:
    explicit Store(std::string location) : location_(std::move(location)) {}
    /// For writing and for listing.
    http::HttpLimits limits() const;
    bool is_stopped() const { return stop_ && stop_(); }

  private:
    std::string location_;
    std::function<bool()> stop_;
};

/// A GET of a server's `target` ("/artifact/..."), through its relay if it is behind one (ART-23); nullopt if the
/// location is of another kind.
std::optional<http::HttpCall> server_call(const Location& location, const std::string& target);

/// Opens a location. Nothing is connected to yet. `credentials` are for locations of the user's own choice: a location
/// that a record of the chain names is asked without any. Throws StoreRefused if a directory is asked for under
/// `public_only`, which a stranger has no business to name.
std::unique_ptr<Store> open_store(
    const Location& location, const std::optional<Credentials>& credentials = std::nullopt, bool public_only = false
);

}  // namespace assay::stores
