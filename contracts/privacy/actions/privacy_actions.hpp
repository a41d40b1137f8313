// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include <core/base/bytes.hpp>
#include <core/base/fields.hpp>
#include <core/base/integers.hpp>
#include <core/sealed/evidence.hpp>
#include <core/sealed/share.hpp>
#include <contracts/params/answer.hpp>
#include <contracts/params/prices.hpp>
#include <contracts/state/ids.hpp>
#include <contracts/state/privacy.hpp>

/// Actions on the keys of private tasks (PRV rules).
namespace assay::contracts {

struct ShareKeys {  // by the submitter to the drawn solver, or by the solver to whoever was drawn to judge its work
    static constexpr const char* kName = "share_keys";
    static constexpr Answer kAnswer{.owed = Owed::kTask, .bytes_max = kOpeningAnswer};
    static constexpr bool kByOperator = true;
    TaskId task;
    std::optional<sealed::TaskKey> key;  ///< of the checkpoints; present if and only if the sender is the submitter
    std::vector<KeyShare> shares;        ///< in ascending order of the accounts
    static constexpr auto fields() { return Fields<&ShareKeys::task, &ShareKeys::key, &ShareKeys::shares>{}; }
    std::uint64_t gas(const Prices& prices) const { return prices.task(5) + prices.shares() + prices.hashed(); }
    Amount amount_out(const Params& /*params*/) const { return {}; }
};

struct ReportWrongKeys {  // by a reader: its share is not of the task's keys
    static constexpr const char* kName = "report_wrong_keys";
    static constexpr Answer kAnswer = kNoAnswer;
    static constexpr bool kByOperator = true;
    TaskId task;
    bool is_of_checkpoints = false;  ///< which of the two keys is wrong
    Bytes share;                     ///< as it was shared
    sealed::WrongShare evidence;
    static constexpr auto fields() {
        return Fields<
            &ReportWrongKeys::task, &ReportWrongKeys::is_of_checkpoints, &ReportWrongKeys::share,
            &ReportWrongKeys::evidence>{};
    }
    std::uint64_t gas(const Prices& prices) const { return prices.task_end() + prices.proof() + prices.hashed(); }
    Amount amount_out(const Params& /*params*/) const { return {}; }
};

struct ReportWrongChunk {  // by a reader: a chunk of a checkpoint's sealed file is not what the state root commits to
    static constexpr const char* kName = "report_wrong_chunk";
    static constexpr Answer kAnswer = kNoAnswer;
    static constexpr bool kByOperator = true;
    TaskId task;
    std::uint32_t checkpoint = 0;
    sealed::WrongChunk evidence;
    static constexpr auto fields() {
        return Fields<&ReportWrongChunk::task, &ReportWrongChunk::checkpoint, &ReportWrongChunk::evidence>{};
    }
    std::uint64_t gas(const Prices& prices) const { return prices.task_end() + prices.proof() + 4 * prices.hashed(); }
    Amount amount_out(const Params& /*params*/) const { return {}; }
};

}  // namespace assay::contracts
