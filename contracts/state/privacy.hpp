// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include <core/base/bytes.hpp>
#include <core/base/fields.hpp>
#include <core/sealed/task_key.hpp>

/// Private tasks (PRV rules): artifacts lie in stores as sealed files, and the keys that open them are shared on the
/// chain, each encrypted to one reader.
namespace assay::contracts {

/// A sealed file (SEA rules), which stores serve by its root.
struct SealedFile {
    Hash256 root;
    std::uint64_t size = 0;  ///< in bytes, as whoever sealed it states it
    bool operator==(const SealedFile&) const = default;
    static constexpr auto fields() { return Fields<&SealedFile::root, &SealedFile::size>{}; }
};

/// PRV-1: what a private task states besides the commitments to its plaintexts.
struct Privacy {
    sealed::TaskKey key;  ///< of what the submitter provides
    SealedFile program;
    SealedFile dataset;
    std::optional<SealedFile> initial;  ///< present if and only if the task names initial tensors
    std::optional<SealedFile> holdout;  ///< present if and only if the task asks for an evaluation
    bool operator==(const Privacy&) const = default;
    static constexpr auto fields() {
        return Fields<&Privacy::key, &Privacy::program, &Privacy::dataset, &Privacy::initial, &Privacy::holdout>{};
    }
};

/// PRV-3: the most readers with whom one transaction shares the keys.
inline constexpr std::size_t kMaxShares = 32;

/// PRV-3: the secrets of a task's two keys, each sealed for one reader (SEA-20).
struct KeyShare {
    AccountId to;
    Bytes of_task;
    Bytes of_checkpoints;  ///< empty for a profiler: there are no checkpoints yet (PRV-10)
    bool operator==(const KeyShare&) const = default;
    static constexpr auto fields() { return Fields<&KeyShare::to, &KeyShare::of_task, &KeyShare::of_checkpoints>{}; }
};

/// PRV-3: somebody who was drawn, and whose key opens what is shared with it: that of the operator that it had then, or
/// its own.
struct Reader {
    AccountId account;
    AccountId key;
    bool operator==(const Reader&) const = default;
    static constexpr auto fields() { return Fields<&Reader::account, &Reader::key>{}; }
};

/// What the state keeps of a share.
struct SharedKeys {
    Reader reader;
    Hash256 of_task;         ///< SHA-256 of the share
    Hash256 of_checkpoints;  ///< likewise; zero for a profiler
    bool operator==(const SharedKeys&) const = default;
    static constexpr auto fields() {
        return Fields<&SharedKeys::reader, &SharedKeys::of_task, &SharedKeys::of_checkpoints>{};
    }
};

/// The part of a private task's record that changes (PRV-2).
struct Secrecy {
    std::optional<sealed::TaskKey> key;  ///< of the checkpoints: chosen by the submitter for the solver that was drawn
    std::vector<SharedKeys> shared;      ///< in the order in which they were shared, one for each account
    /// PRV-3, PRV-4, PRV-10: with whom the keys have to be shared, in ascending order of the accounts: by the submitter
    /// with profilers and the solver that was drawn, by the solver with whoever was drawn to judge its work.
    std::vector<Reader> awaited;
    static constexpr auto fields() { return Fields<&Secrecy::key, &Secrecy::shared, &Secrecy::awaited>{}; }
};

}  // namespace assay::contracts
