// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <variant>

#include <core/base/result.hpp>
#include <verifier/artifacts/claimed_losses.hpp>
#include <verifier/artifacts/file.hpp>
#include <verifier/artifacts/offered_seats.hpp>
#include <verifier/artifacts/safetensors.hpp>
#include <verifier/compile/program/program.hpp>
#include <verifier/sandbox/sandbox.hpp>

/// Artifacts that strangers wrote. Their parsers run in the sandbox, unless it is off; what comes back is checked here.
namespace assay::artifacts {

/// Why a stranger's file gives nothing: what is wrong with it, or how its parser ended.
template <class E>
using ForeignError = std::variant<E, sandbox::Refusal>;

/// Decodes a program. In the sandbox it is decoded, checked and committed to first, and then here. The structure is not
/// handed over: its encoding is the file itself.
Result<program::Program, ForeignError<program::ProgramError>> decode_foreign_program(const StoredFile& file);

/// Reads a safetensors file's header in the sandbox. The tensors stay where they are.
Result<SafetensorsLayout, ForeignError<SafetensorsError>> decode_foreign_layout(const StoredFile& file);

/// Reads what a stranger's server said of a task's losses; nullopt if it is none, or not signed by its account.
Result<std::optional<ClaimedLosses>, sandbox::Refusal> decode_foreign_losses(std::string_view text);
/// Reads what a stranger's server said of a group's seats; nullopt if it is none.
Result<std::optional<OfferedSeats>, sandbox::Refusal> decode_foreign_seats(std::string_view text);

// The parsers' answers, encoded with Borsh. A number is that of the error.
using ProgramAnswer = std::uint8_t;  ///< 0: the file is a program
using LossesAnswer = std::optional<ClaimedLosses>;
using SeatsAnswer = std::optional<OfferedSeats>;
using LayoutAnswer = std::variant<std::uint8_t, SafetensorsLayout>;

}  // namespace assay::artifacts
