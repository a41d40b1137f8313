// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>

#include <client/proof.hpp>
#include <core/codec/borsh.hpp>
#include <tools/cli/common/session.hpp>

/// Proven slots for the commands.
namespace assay::cli {

using client::check_signed;
using client::hash_member;
using client::hex_member;
using client::Mismatch;
using client::prove_slot;
using client::ProvenSlot;
using client::Trust;

/// Returns the record in a proven slot. Throws Failure kExitNotFound if the slot is empty, and Mismatch.
template <class T>
T decode_proven(const ProvenSlot& slot, const std::string& name) {
    if (!slot.value) {
        throw Failure(kExitNotFound, "not_found", "the chain has no " + name);
    }
    auto value = codec::decode<T>(*slot.value);
    if (!value) {
        throw Mismatch("the proven record of " + name + " does not decode");
    }
    return *std::move(value);
}

}  // namespace assay::cli
