// SPDX-License-Identifier: Apache-2.0
#include <client/referee/call.hpp>

#include <client/referee/answers.hpp>
#include <client/referee/checks.hpp>
#include <client/referee/judge.hpp>
#include <core/codec/borsh.hpp>

namespace assay::referee {
namespace {

template <class Arguments>
std::string ask(std::string (*function)(const Arguments&), ByteView bytes) {
    const auto arguments = codec::decode<Arguments>(bytes);
    return arguments ? function(*arguments) : make_error("the arguments do not decode");
}

}  // namespace

std::string call(std::uint32_t question, ByteView arguments) {
    switch (static_cast<Question>(question)) {
        case Question::kJudge:
            return ask(judge, arguments);
        case Question::kStateProof:
            return ask(check_state_proof, arguments);
        case Question::kStateKey:
            return ask(state_key, arguments);
        case Question::kHistory:
            return ask(check_history, arguments);
        case Question::kBlock:
            return ask(check_block, arguments);
        case Question::kLightBlock:
            return ask(check_light_block, arguments);
        case Question::kAccountOf:
            return ask(account_of, arguments);
    }
    return make_error("there is no such question");
}

}  // namespace assay::referee
