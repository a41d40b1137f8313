// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <core/base/bytes.hpp>
#include <core/base/fields.hpp>
#include <core/base/integers.hpp>
#include <contracts/params/answer.hpp>
#include <contracts/params/prices.hpp>
#include <contracts/state/ids.hpp>
#include <contracts/state/validator.hpp>

/// Actions of validators (VAL rules).
namespace assay::contracts {

struct RegisterValidator {  // the sender's validator stake gives this key its voting power
    static constexpr const char* kName = "register_validator";
    static constexpr Answer kAnswer = kNoAnswer;
    static constexpr bool kByOperator = false;
    ConsensusKey key;
    ConsensusSignature proof;  ///< signature by `key` of consensus_key_claim(...)
    static constexpr auto fields() { return Fields<&RegisterValidator::key, &RegisterValidator::proof>{}; }
    std::uint64_t gas(const Prices& prices) const { return prices.registration(); }
    Amount amount_out(const Params& /*params*/) const { return {}; }
};

struct Unjail {  // returns to the validator set after being jailed
    static constexpr const char* kName = "unjail";
    static constexpr Answer kAnswer = kNoAnswer;
    static constexpr bool kByOperator = false;
    static constexpr auto fields() { return Fields<>{}; }
    std::uint64_t gas(const Prices& prices) const { return prices.slots(2); }
    Amount amount_out(const Params& /*params*/) const { return {}; }
};

}  // namespace assay::contracts
