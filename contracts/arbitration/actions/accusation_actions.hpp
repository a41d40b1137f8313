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
#include <core/dispute/statement.hpp>

/// Actions about what members of a group have stated (STM rules).
namespace assay::contracts {

struct Accuse {  // by a member of a group that trains together: another member stated wrong values
    static constexpr const char* kName = "accuse";
    static constexpr Answer kAnswer = kNoAnswer;
    static constexpr bool kByOperator = true;
    TaskId task;
    AccountId member;     ///< who stated them
    Signature signature;  ///< the member's, of the statement
    dispute::Contradiction contradiction;
    /// The dispute in which the sender answers by this: for its own claim, or for a statement of its own (STM-9).
    std::optional<DisputeId> answers = std::nullopt;
    static constexpr auto fields() {
        return Fields<&Accuse::task, &Accuse::member, &Accuse::signature, &Accuse::contradiction, &Accuse::answers>{};
    }
    std::uint64_t gas(const Prices& prices) const {
        return prices.opening() + prices.task_end() + prices.statements(1);
    }
    Amount amount_out(const Params& /*params*/) const { return {}; }
};

struct ReportEquivocation {  // by a member: another member stated two values of one thing
    static constexpr const char* kName = "report_equivocation";
    static constexpr Answer kAnswer = kNoAnswer;
    static constexpr bool kByOperator = true;
    TaskId task;
    AccountId member;
    dispute::StatedPiece one;
    Signature one_signature;
    dispute::StatedPiece other;
    Signature other_signature;
    static constexpr auto fields() {
        return Fields<
            &ReportEquivocation::task, &ReportEquivocation::member, &ReportEquivocation::one,
            &ReportEquivocation::one_signature, &ReportEquivocation::other, &ReportEquivocation::other_signature>{};
    }
    std::uint64_t gas(const Prices& prices) const { return prices.task(5) + prices.statements(2); }
    Amount amount_out(const Params& /*params*/) const { return {}; }
};

}  // namespace assay::contracts
