// SPDX-License-Identifier: Apache-2.0
#include <verifier/artifacts/foreign.hpp>

#include <algorithm>
#include <utility>

#include <contracts/state/group.hpp>
#include <core/codec/borsh.hpp>

namespace assay::artifacts {
namespace {

// Decoded, a program's nodes take up to so many bytes for one of the file, and its commitment as many again.
constexpr std::uint32_t kProgramFactor = 48;
constexpr std::uint32_t kHeaderFactor = 16;

template <class T, class E>
Result<T, ForeignError<E>> fail(ForeignError<E> error) {
    return Unexpected{std::move(error)};
}

sandbox::Refusal garbage() { return sandbox::make_refusal(sandbox::RefusalKind::kGarbage); }

/// The parser's answer, which is at most as long as the limits say.
template <class Answer>
Result<Answer, sandbox::Refusal> ask(
    const char* parser, int descriptor, std::uint64_t size_bytes, const sandbox::Limits& limits
) {
    const sandbox::Call call{.parser = parser, .files = {{descriptor, size_bytes}}, .limits = limits};
    TRY_ASSIGN(const auto mapped, sandbox::run(call));
    auto answer = codec::decode<Answer>(mapped.bytes());
    return answer ? Result<Answer, sandbox::Refusal>(*std::move(answer)) : Unexpected{garbage()};
}

/// The same of a text that is in memory.
template <class Answer>
Result<Answer, sandbox::Refusal> ask_about_text(const char* parser, std::string_view text) {
    constexpr std::uint32_t kJsonFactor = 64;
    const sandbox::Descriptor file = sandbox::make_memory_file(as_bytes(text));
    if (!file.is_open()) {
        return Unexpected{sandbox::make_refusal(sandbox::RefusalKind::kNotStarted, "no memory is free")};
    }
    return ask<Answer>(parser, file.number(), text.size(), sandbox::limits_for(text.size(), kJsonFactor));
}

template <class T, class E>
Result<T, ForeignError<E>> as_foreign(Result<T, E> decoded) {
    return decoded ? Result<T, ForeignError<E>>(*std::move(decoded)) : fail<T, E>(decoded.error());
}

}  // namespace

Result<program::Program, ForeignError<program::ProgramError>> decode_foreign_program(const StoredFile& file) {
    using program::Program;
    using program::ProgramError;
    if (sandbox::mode() == sandbox::Mode::kOff) {
        return as_foreign(program::decode_program(file.view()));
    }
    const auto answer = ask<ProgramAnswer>(
        "program", file.descriptor(), file.size_bytes(), sandbox::limits_for(file.size_bytes(), kProgramFactor)
    );
    if (!answer) {
        return fail<Program, ProgramError>(answer.error());
    }
    if (*answer > static_cast<std::uint8_t>(ProgramError::kInitial)) {
        return fail<Program, ProgramError>(garbage());
    }
    if (*answer != 0) {
        return fail<Program, ProgramError>(static_cast<ProgramError>(*answer));
    }
    auto program = program::decode_program(file.view());
    return program ? as_foreign(std::move(program)) : fail<Program, ProgramError>(garbage());
}

Result<SafetensorsLayout, ForeignError<SafetensorsError>> decode_foreign_layout(const StoredFile& file) {
    if (sandbox::mode() == sandbox::Mode::kOff) {
        return as_foreign(decode_safetensors_layout(file.view()));
    }
    const std::uint64_t header_bytes = std::min(file.size_bytes(), kMaxSafetensorsFraming);
    auto answer = ask<LayoutAnswer>(
        "safetensors", file.descriptor(), file.size_bytes(), sandbox::limits_for(header_bytes, kHeaderFactor)
    );
    if (!answer) {
        return fail<SafetensorsLayout, SafetensorsError>(answer.error());
    }
    if (const auto* number = std::get_if<std::uint8_t>(&*answer)) {
        const bool is_known = *number >= 1 && *number <= static_cast<std::uint8_t>(SafetensorsError::kTrailingBytes);
        return is_known ? fail<SafetensorsLayout, SafetensorsError>(static_cast<SafetensorsError>(*number))
                        : fail<SafetensorsLayout, SafetensorsError>(garbage());
    }
    auto& layout = std::get<SafetensorsLayout>(*answer);
    if (!is_layout_of(layout, file.view())) {
        return fail<SafetensorsLayout, SafetensorsError>(garbage());
    }
    return std::move(layout);
}

Result<std::optional<ClaimedLosses>, sandbox::Refusal> decode_foreign_losses(std::string_view text) {
    if (text.size() > kMaxLossesBytes) {
        return LossesAnswer{};
    }
    if (sandbox::mode() == sandbox::Mode::kOff) {
        return decode_losses(text);
    }
    TRY_ASSIGN(auto losses, ask_about_text<LossesAnswer>("losses", text));
    return losses && is_signed(*losses) ? std::move(losses) : LossesAnswer{};
}

Result<std::optional<OfferedSeats>, sandbox::Refusal> decode_foreign_seats(std::string_view text) {
    if (sandbox::mode() == sandbox::Mode::kOff) {
        return decode_offered_seats(text);
    }
    TRY_ASSIGN(auto seats, ask_about_text<SeatsAnswer>("seats", text));
    if (seats && seats->seats.size() > contracts::kMaxSeats) {
        return Unexpected{garbage()};
    }
    return seats;
}

}  // namespace assay::artifacts
