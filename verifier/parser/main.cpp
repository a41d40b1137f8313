// SPDX-License-Identifier: Apache-2.0
#include <array>

#include <verifier/parser/parsers.hpp>

namespace {

using namespace assay::parser;

constexpr std::array kParsers{
    assay::sandbox::Parser{"nothing", parse_nothing}, assay::sandbox::Parser{"program", parse_program},
    assay::sandbox::Parser{"safetensors", parse_safetensors}, assay::sandbox::Parser{"losses", parse_losses},
    assay::sandbox::Parser{"seats", parse_seats}, assay::sandbox::Parser{"onnx", parse_onnx},
    // The tokenizer's patterns are compiled to machine code: interpreted they would take several times as long.
    assay::sandbox::Parser{"text", parse_text, assay::sandbox::Code::kGenerated}};

}  // namespace

int main() { return assay::sandbox::serve(kParsers); }
