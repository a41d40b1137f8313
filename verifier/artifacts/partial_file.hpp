// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <condition_variable>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include <core/base/bytes.hpp>
#include <core/crypto/hash.hpp>
#include <verifier/artifacts/file.hpp>
#include <verifier/artifacts/store.hpp>

namespace assay::artifacts {

/// How a download is divided, and what each part is checked against.
class PartPlan {
  public:
    virtual ~PartPlan() = default;
    /// Ends of the parts in the artifact, ascending; the last one is the artifact's size.
    const std::vector<std::uint64_t>& ends() const { return ends_; }
    std::uint64_t begin_of(std::uint64_t part) const { return part == 0 ? 0 : ends_[part - 1]; }
    /// Returns whether a part that is in the file is the artifact's.
    virtual bool is_right(std::uint64_t part, const File& file) const = 0;
    /// Whether the parts alone do not tell: the SHA-256 of the whole file has to be the artifact's name.
    virtual bool needs_hash() const = 0;
    /// Whether the complete file, of so many bytes, is the artifact with this name, as far as its parts do not tell.
    virtual bool is_right(const File& /*file*/, std::uint64_t /*size_bytes*/, const Hash256& /*name*/) const {
        return true;
    }
    /// Distinguishes unfinished downloads of one artifact that are divided in another way.
    virtual const char* mark() const = 0;

  protected:
    std::vector<std::uint64_t> ends_;
};

/// Parts of one size, of which only the whole artifact's hash tells whether they are right.
class UncheckedParts : public PartPlan {
  public:
    static constexpr std::uint64_t kPartBytes = 256U << 10U;
    explicit UncheckedParts(std::uint64_t size_bytes);
    using PartPlan::is_right;
    bool is_right(std::uint64_t, const File&) const override { return true; }
    bool needs_hash() const override { return true; }
    const char* mark() const override { return ""; }
};

/// ART-24: likewise of a sealed file, of which its root tells.
class SealedParts final : public UncheckedParts {
  public:
    using UncheckedParts::is_right;
    using UncheckedParts::UncheckedParts;
    bool needs_hash() const override { return false; }
    bool is_right(const File& file, std::uint64_t size_bytes, const Hash256& name) const override;
    const char* mark() const override { return "e"; }
};

/// An artifact that is being downloaded into a store, by one or more threads. It is divided into parts. The file has
/// the artifact's bytes and, behind them, one byte for each part that says whether the part is complete. So a process
/// that dies loses at most one part for each connection. Where a hash of the whole is needed, the file is hashed as far
/// as it is complete from its beginning, on a thread of its own if it is large. Functions throw StoreError.
class PartialFile {
  public:
    /// Bytes first..end-1.
    struct Claim {
        std::uint64_t first = 0;
        std::uint64_t end = 0;
    };

    /// Opens what an earlier attempt has left, or an empty file. Throws StoreError, also if somebody else downloads the
    /// same artifact into the store.
    PartialFile(const ContentStore& store, const Hash256& name, std::shared_ptr<const PartPlan> plan);
    ~PartialFile();
    PartialFile(const PartialFile&) = delete;
    PartialFile& operator=(const PartialFile&) = delete;

    bool is_complete() const;
    /// Number of complete parts. It grows unless finish() finds wrong bytes.
    std::uint64_t parts_done() const;
    /// Claims the first missing parts that nobody else has claimed, in one piece of at most `bytes_max` rounded up to
    /// parts. If there are none, claims the second half of what somebody else still waits for. Returns nullopt if
    /// nothing is missing.
    std::optional<Claim> claim(std::uint64_t bytes_max);
    enum class Written : std::uint8_t {
        kTaken = 1,
        kNotNeeded = 2,  ///< another claim has brought them, so that the rest of this one is not needed either
        kWrong = 3,      ///< they complete a part that is not the artifact's and stays missing
    };
    /// Writes bytes of a claim. The bytes of one claim are written in their order, from its first.
    Written write(std::uint64_t offset, ByteView bytes);
    /// Gives back those parts of a claim that are not complete.
    void release(const Claim& claim);
    /// Moves the complete file into the store. A file that its SHA-256 names is verified whenever it is read, so it is
    /// not waited for until it is on the disk: after a power cut it may have to be fetched again. Returns false, and
    /// drops all bytes, if they are not the artifact's, which cannot be where each part was checked.
    bool finish();
    /// Drops all bytes.
    void clear();

  private:
    enum class Part : std::uint8_t { kMissing = 0, kDone = 1, kClaimed = 2 };

    void mark_done(std::uint64_t part);
    /// Of parts that an earlier process has marked: a crash may have kept the mark and not the bytes.
    void check_marked();
    /// Hashes the parts that are complete from the beginning on. `lock` holds `mutex_`, which is free while bytes are
    /// read and hashed.
    void hash_what_is_there(std::unique_lock<std::mutex>& lock);
    bool is_next_there() const;
    void run_hasher();
    /// The part with this byte.
    std::uint64_t part_at(std::uint64_t offset) const;

    const ContentStore& store_;
    Hash256 name_;
    std::shared_ptr<const PartPlan> plan_;
    std::uint64_t size_bytes_;
    std::filesystem::path path_;
    File file_;
    mutable std::mutex mutex_;
    std::vector<Part> parts_;  ///< the file has them with kClaimed as kMissing
    std::uint64_t done_ = 0;
    std::uint64_t hashed_ = 0;  ///< parts
    crypto::Sha256 hash_;       ///< of whoever has set `is_hashing_`
    bool is_hashing_ = false;
    bool is_over_ = false;
    std::exception_ptr thrown_;  ///< by the hasher
    std::condition_variable changed_;
    std::thread hasher_;  ///< not started for small files
};

}  // namespace assay::artifacts
