// SPDX-License-Identifier: Apache-2.0
#pragma once

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

/// PRV-3: the secrets of a task's two keys, each sealed for one reader (SEA-20).
struct KeyShare {
    AccountId to;
    Bytes of_task;
    Bytes of_checkpoints;
    bool operator==(const KeyShare&) const = default;
    static constexpr auto fields() {
        return Fields<&KeyShare::to, &KeyShare::of_task, &KeyShare::of_checkpoints>{};
    }
};

/// What the state keeps of a share.
struct SharedKeys {
    AccountId to;
    AccountId reader;        ///< the account whose key opens it: the operator of `to`, if it had one, or `to` itself
    Hash256 of_task;         ///< SHA-256 of the share
    Hash256 of_checkpoints;  ///< likewise
    bool operator==(const SharedKeys&) const = default;
    static constexpr auto fields() {
        return Fields<&SharedKeys::to, &SharedKeys::reader, &SharedKeys::of_task, &SharedKeys::of_checkpoints>{};
    }
};

/// The part of a private task's record that changes (PRV-2).
struct Secrecy {
    std::optional<sealed::TaskKey> key;  ///< of the checkpoints: chosen by the submitter for the solver that was drawn
    std::vector<SharedKeys> shared;      ///< in the order in which they were shared
    std::vector<AccountId> awaited;      ///< PRV-4: to whom the solver has to share the keys, in ascending order
    static constexpr auto fields() { return Fields<&Secrecy::key, &Secrecy::shared, &Secrecy::awaited>{}; }
};

}  // namespace assay::contracts
