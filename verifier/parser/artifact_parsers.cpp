// SPDX-License-Identifier: Apache-2.0
#include <verifier/parser/parsers.hpp>

#include <core/codec/borsh.hpp>
#include <core/dispute/commitment.hpp>
#include <verifier/artifacts/foreign.hpp>

namespace assay::parser {

void parse_nothing(const sandbox::Input& /*input*/, const sandbox::Output& /*output*/) {}

void parse_program(const sandbox::Input& input, const sandbox::Output& output) {
    const auto program = program::decode_program(input.files.at(0));
    if (program) {
        // Its commitment takes the longest of what is done with a program before it is executed.
        static_cast<void>(dispute::commit_program(
            program->init, program->step, static_cast<std::uint32_t>(program->state.size()), program->batch_size,
            program->dataset, {.count = static_cast<std::uint32_t>(program->initial.size()), .root = Hash256{}}
        ));
    }
    output.write(
        codec::encode(program ? artifacts::ProgramAnswer{0} : static_cast<artifacts::ProgramAnswer>(program.error()))
    );
}

void parse_safetensors(const sandbox::Input& input, const sandbox::Output& output) {
    auto layout = artifacts::decode_safetensors_layout(input.files.at(0));
    output.write(codec::encode(
        layout ? artifacts::LayoutAnswer(*std::move(layout))
               : artifacts::LayoutAnswer(static_cast<std::uint8_t>(layout.error()))
    ));
}

void parse_losses(const sandbox::Input& input, const sandbox::Output& output) {
    output.write(codec::encode(artifacts::decode_unsigned_losses(as_text(input.files.at(0)))));
}

void parse_seats(const sandbox::Input& input, const sandbox::Output& output) {
    output.write(codec::encode(artifacts::decode_offered_seats(as_text(input.files.at(0)))));
}

}  // namespace assay::parser
