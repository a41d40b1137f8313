// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include <core/base/bytes.hpp>
#include <core/base/fields.hpp>

/// What the referee for browsers answers. Every function here takes bytes that nobody has checked and returns a JSON
/// object for referee.js: `{"ok":true,...}`, or `{"ok":false,"error":"..."}` if the bytes are not what they should be.
/// docs/operations/referee.md describes the members.
namespace assay::referee {

/// Records and a transaction as the chain has them, in Borsh.
struct JudgeArguments {
    Bytes dispute;
    Bytes transaction;                  ///< with a prove_move
    std::optional<Bytes> task;          ///< of the dispute
    std::optional<Bytes> before;        ///< checkpoint of the segment before
    std::optional<Bytes> after;         ///< checkpoint of the segment
    std::optional<Bytes> claimed_tile;  ///< data of a tile; used if it has the claimed hash
    static constexpr auto fields() {
        return Fields<
            &JudgeArguments::dispute, &JudgeArguments::transaction, &JudgeArguments::task, &JudgeArguments::before,
            &JudgeArguments::after, &JudgeArguments::claimed_tile>{};
    }
};

/// DSP-36: rules on the proof as every validator did, and shows what was recomputed.
std::string judge(const JudgeArguments& arguments);

}  // namespace assay::referee
