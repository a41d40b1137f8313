// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ctime>

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <string>

#include <core/base/bytes.hpp>
#include <verifier/engine/cell/collective.hpp>
#include <verifier/engine/cell/shared_words.hpp>
#include <verifier/group/signed_collective.hpp>

/// The links of the ranks whose signatures assay-bench measures, and what these ranks use.
namespace assay::bench {

/// Steps whose messages are not signed, and steps whose messages are.
enum Side : std::size_t { kPlain, kSigned, kSides };
template <class T>
using BySide = std::array<T, kSides>;

/// Seconds that a thread or process has computed.
double cpu_seconds(clockid_t clock);

/// For ranks that are processes: a file for each word, in a directory that all see. A rank waits for another one's word
/// for two minutes.
std::unique_ptr<engine::SharedWords> make_file_words(const std::filesystem::path& directory);

/// What a rank has used when a step began.
struct Reading {
    double cpu_s = 0.0;  ///< of the thread
    std::uint64_t messages = 0;
    std::uint64_t value_bytes = 0;
    group::StatementCost cost{};
};
using Readings = std::map<std::uint64_t, Reading>;  // by step

struct SignedLink {
    std::uint32_t rank = 0;
    std::uint32_t ranks = 0;
    std::string address;           ///< at which the others connect to this rank
    Hash256 root;                  ///< of the state that the segment begins with
    std::filesystem::path ledger;  ///< a directory
};
/// Connects a rank to the others by TLS, each with an account of its own, and notes in `readings` what it has used when
/// it begins a step. Throws std::runtime_error if not all ranks come in two minutes.
std::unique_ptr<engine::Collective> connect_side(
    Side side, engine::SharedWords& words, const SignedLink& link, std::shared_ptr<Readings> readings
);

}  // namespace assay::bench
