// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include <client/referee/call.hpp>
#include <core/base/bytes.hpp>

/// Questions to which the referee's module and the same code on this machine must give the same answers.
namespace assay::referee::testing {

struct Case {
    std::string name;
    Question question = Question::kJudge;
    Bytes arguments;
};

/// Disputes that were played to their proof, proofs of a state, a history, and blocks of both engines; `root` is that
/// of the project, for the blocks of a real chain.
std::vector<Case> make_cases(const std::string& root);

}  // namespace assay::referee::testing
