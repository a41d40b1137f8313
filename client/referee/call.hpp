// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include <core/base/bytes.hpp>

namespace assay::referee {

/// The questions by number, as referee.js has them.
enum class Question : std::uint32_t {
    kJudge = 1,
    kStateProof = 2,
    kStateKey = 3,
    kHistory = 4,
    kBlock = 5,
    kLightBlock = 6,
    kAccountOf = 7,
};

/// Decodes the arguments, Borsh of the question's struct, and returns the answer. Arguments that do not decode and
/// questions that do not exist give an error, like all else that is wrong.
std::string call(std::uint32_t question, ByteView arguments);

}  // namespace assay::referee
