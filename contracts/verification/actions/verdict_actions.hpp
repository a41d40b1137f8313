// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

#include <core/base/bytes.hpp>
#include <core/base/fields.hpp>
#include <core/base/integers.hpp>
#include <contracts/params/answer.hpp>
#include <contracts/params/prices.hpp>
#include <contracts/state/ids.hpp>
#include <contracts/state/verdict.hpp>
#include <core/dispute/opening.hpp>

/// Actions of verifiers (VER rules).
namespace assay::contracts {

struct CommitVerdict {
    static constexpr const char* kName = "commit_verdict";
    static constexpr Answer kAnswer{.owed = Owed::kVerdict, .bytes_max = kPlainAnswer};
    static constexpr bool kByOperator = true;
    TaskId task;
    std::uint32_t segment = 0;
    Hash256 commitment;  ///< verdict_commitment(...)
    static constexpr auto fields() {
        return Fields<&CommitVerdict::task, &CommitVerdict::segment, &CommitVerdict::commitment>{};
    }
    std::uint64_t gas(const Prices& prices) const { return prices.task(5); }
    Amount amount_out(const Params& /*params*/) const { return {}; }
};

struct PublishVerdict {  // if the end root differs from the solver's, a dispute is opened in the same transaction
                         // (VER-6)
    static constexpr const char* kName = "publish_verdict";
    static constexpr Answer kAnswer{.owed = Owed::kVerdict, .bytes_max = kOpeningAnswer};
    static constexpr bool kByOperator = true;
    TaskId task;
    std::uint32_t segment = 0;
    Verdict verdict;  ///< the true one; in a forced error (VER-11) the decoy root replaces the probe root
    /// VER-17: present if and only if `diverged_after` is set: a tile of the end root's state that contains a
    /// non-finite value.
    std::optional<dispute::StateOpening> divergence = std::nullopt;
    static constexpr auto fields() {
        return Fields<
            &PublishVerdict::task, &PublishVerdict::segment, &PublishVerdict::verdict, &PublishVerdict::divergence>{};
    }
    std::uint64_t gas(const Prices& prices) const { return prices.opening() + prices.hashed(); }
    Amount amount_out(const Params& /*params*/) const { return {}; }
};

struct DiscloseVerdict {  // after the challenge window, or earlier if the verdict is challenged (DSP-42)
    static constexpr const char* kName = "disclose_verdict";
    static constexpr Answer kAnswer{.owed = Owed::kDisclosure, .bytes_max = kPlainAnswer};
    static constexpr bool kByOperator = true;
    TaskId task;
    std::uint32_t segment = 0;
    VerdictOpening opening;
    static constexpr auto fields() {
        return Fields<&DiscloseVerdict::task, &DiscloseVerdict::segment, &DiscloseVerdict::opening>{};
    }
    std::uint64_t gas(const Prices& prices) const { return prices.task_end(); }
    Amount amount_out(const Params& /*params*/) const { return {}; }
};

}  // namespace assay::contracts
