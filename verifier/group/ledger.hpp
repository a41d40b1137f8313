// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <istream>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include <core/base/bytes.hpp>
#include <core/dispute/statement.hpp>
#include <verifier/plan/message.hpp>

namespace assay::group {

/// A statement that a rank made, and what of its message is needed to show later that it is wrong: the hashes of its
/// pieces. What the pieces are follows from the plan, and all messages of that kind share it.
struct Told {
    std::uint32_t author = 0;  ///< rank
    dispute::Statement statement;
    Signature signature;
    std::shared_ptr<const plan::MessagePieces> message;
    std::vector<Hash256> values;  ///< of each piece

    dispute::Piece piece(std::size_t index) const;
    /// The piece as evidence.
    dispute::StatedPiece stated(std::size_t index) const;
};
/// The piece that says that `values` hashes to what it has.
dispute::Piece piece_of(const plan::MessagePiece& place, const Hash256& values);

/// Reads what a ledger's file has. `bytes` is its length, more than which no entry can have. Stops at the first entry
/// that is none, which was being written when a process was killed; one that the disk has damaged is left out.
std::vector<std::shared_ptr<const Told>> read_told(std::istream& file, std::uint64_t bytes);

/// What a rank was told in a task, in files, so that whoever is killed and starts again can still show it. It stays as
/// long as the task, of which any segment may be disputed until it is judged. Thread-safe.
class Ledger {
  public:
    /// Keeps it in `directory`, which is made, and at most so many bytes there. What an earlier ledger has left there
    /// is part of it.
    Ledger(std::filesystem::path directory, std::uint64_t bytes_max);

    /// What is added has reached the operating system when it returns: it survives the end of this process. Throws
    /// std::runtime_error if the ledger is full, or a file cannot be written; then `told` is no part of it.
    void add(std::uint64_t first_step, const Told& told);
    /// What was told in the segment that begins with this step, one process after the other, in the order in which it
    /// came. What a disk has damaged is left out.
    std::vector<std::shared_ptr<const Told>> told(std::uint64_t first_step) const;
    std::uint64_t bytes() const;
    std::uint64_t bytes_max() const { return bytes_max_; }

  private:
    /// The file that this process writes, of one segment, and which messages it has already described in it.
    struct Writing {
        std::uint64_t first_step = 0;
        std::filesystem::path path;
        std::ofstream file;
        std::uint64_t bytes = 0;  ///< of whole entries
        std::map<std::shared_ptr<const plan::MessagePieces>, std::uint32_t> kinds{};
    };
    Writing& writing(std::uint64_t first_step);
    void give_up();

    std::filesystem::path directory_;
    std::uint64_t bytes_max_;
    std::string process_;      ///< in the names of this process's files
    std::uint32_t files_ = 0;  ///< that it has begun
    mutable std::mutex mutex_;
    std::optional<Writing> writing_;
    std::uint64_t bytes_ = 0;
};

}  // namespace assay::group
