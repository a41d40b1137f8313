// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <string_view>

/// The exit codes of all programs: one number has one meaning, whichever program ends with it.
/// docs/operations/exit-codes.md has the same table; a number is never reused.
namespace assay::command {

enum ExitCode : int {
    kExitOk = 0,
    kExitFailure = 1,
    kExitUsage = 2,
    kExitConfig = 3,
    kExitUnreachable = 4,
    kExitRejected = 5,
    kExitNotFound = 6,
    kExitTimeout = 7,
    kExitRefuted = 9,
    kExitMismatch = 10,
    kExitHalted = 11,
    kExitInvalidArtifact = 12,
    kExitSkipped = 77,
};

/// Which programs end with a code. assay-adversary is like assay-worker.
struct ExitMeaning {
    ExitCode code;
    std::string_view meaning;
    bool of_assay;
    bool of_assayd;
    bool of_worker;
};

inline constexpr std::array kExitMeanings{
    ExitMeaning{kExitOk, "done; a program that serves was stopped in order", true, true, true},
    ExitMeaning{
        kExitFailure,
        "anything else that failed, such as a disk or an answer that cannot be written to standard output", true, true,
        true},
    ExitMeaning{kExitUsage, "the arguments are wrong", true, true, true},
    ExitMeaning{
        kExitConfig,
        "a file is wrong or cannot be read: settings, genesis, task.toml, a key, a password; or another process has "
        "the home",
        true, true, true},
    ExitMeaning{
        kExitUnreachable, "nobody answers at the node's URL, or where an artifact is said to be", true, false, true},
    ExitMeaning{kExitRejected, "the transaction was refused, or failed in its block", true, false, false},
    ExitMeaning{kExitNotFound, "no such task, dispute, transaction, block or checkpoint", true, false, false},
    ExitMeaning{
        kExitTimeout, "the other side took too long, or a transaction's end is not known: it may still be executed",
        true, false, true},
    ExitMeaning{kExitRefuted, "a segment's replay does not give what its solver claimed", true, false, false},
    ExitMeaning{kExitMismatch, "what a node, a file or the block log says does not verify", true, true, true},
    ExitMeaning{
        kExitHalted, "the validators have voted that this program does not go on: an upgrade or a halt", false, true,
        false},
    ExitMeaning{kExitInvalidArtifact, "an artifact is not what the chain says it is", true, false, false},
    ExitMeaning{
        kExitSkipped, "`assay demo` needs a server or a privilege that cannot be had on this machine", true, false,
        false},
};

/// Whether `program`, by its name, may end with the code.
constexpr bool ends_with(std::string_view program, const ExitMeaning& meaning) {
    return program == "assay" ? meaning.of_assay : program == "assayd" ? meaning.of_assayd : meaning.of_worker;
}

}  // namespace assay::command
