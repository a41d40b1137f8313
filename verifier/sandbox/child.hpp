// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include <core/base/bytes.hpp>
#include <verifier/sandbox/filter.hpp>

/// The side of the sandbox that parses. A program has a main() that calls serve() and nothing else.
namespace assay::sandbox {

/// What a parser reads.
struct Input {
    ByteView config;              ///< from the caller, who may be trusted
    std::vector<ByteView> files;  ///< from strangers
};

/// Where a parser's answer goes, piece by piece. What goes beyond the limit ends the process.
class Output {
  public:
    explicit Output(int descriptor) : descriptor_(descriptor) {}
    void write(ByteView bytes) const;

  private:
    int descriptor_;
};

struct Parser {
    std::string_view name;
    void (*parse)(const Input&, const Output&);
    Code code = Code::kNone;
};

/// Carries out the order that run() has passed: limits itself, closes the filter, and only then has the parser read the
/// files. Never returns to parse anything else. Started by hand it says what it is for. Returns the exit status.
int serve(std::span<const Parser> parsers);

}  // namespace assay::sandbox
