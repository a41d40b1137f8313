// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include <core/base/bytes.hpp>
#include <core/base/fields.hpp>

/// Inputs of the targets about groups that take more than bytes, as one Borsh struct each; make_corpus writes them too.
namespace assay::fuzz {

/// What whoever reads a link does next.
struct LinkAct {
    enum Kind : std::uint8_t { kFeed, kAsk, kAnswer, kAllow, kKinds };
    std::uint8_t kind = kFeed;  ///< modulo kKinds
    std::uint32_t tag = 0;      ///< kAsk
    std::uint16_t bytes = 0;    ///< kFeed: that come; kAsk: of the message; kAllow: that a rank may be ahead
    static constexpr auto fields() { return Fields<&LinkAct::kind, &LinkAct::tag, &LinkAct::bytes>{}; }
};
/// What another rank writes, and what this one does meanwhile.
struct LinkCase {
    std::uint16_t ahead_bytes = 0;
    std::uint8_t ahead_messages = 0;
    std::vector<LinkAct> acts;
    Bytes written;
    static constexpr auto fields() {
        return Fields<&LinkCase::ahead_bytes, &LinkCase::ahead_messages, &LinkCase::acts, &LinkCase::written>{};
    }
};

/// A message with values, as another member of a group sends it.
struct StatedCase {
    enum Kind : std::uint8_t { kHonest, kAltered, kAnyBytes, kKinds };
    std::uint8_t kind = kHonest;  ///< modulo kKinds
    std::uint8_t message = 0;     ///< which of a few messages it is to be
    std::uint16_t place = 0;      ///< kAltered: the byte that differs
    std::uint8_t change = 0;      ///< kAltered: how; 0 counts as 1
    Bytes values;                 ///< kAnyBytes: with a signature; else repeated to the message's length
    static constexpr auto fields() {
        return Fields<
            &StatedCase::kind, &StatedCase::message, &StatedCase::place, &StatedCase::change, &StatedCase::values>{};
    }
};

}  // namespace assay::fuzz
