// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>

#include <verifier/sandbox/sandbox.hpp>

namespace assay::sandbox::test {

/// Has another program take assay-parser's place for as long as it lives.
class OtherProgram {
  public:
    explicit OtherProgram(const std::filesystem::path& program) { set_program(program); }
    ~OtherProgram() { set_program({}); }
    OtherProgram(const OtherProgram&) = delete;
    OtherProgram& operator=(const OtherProgram&) = delete;
};

/// Turns the sandbox off for as long as it lives.
class Inside {
  public:
    Inside() { set_mode(Mode::kOff); }
    ~Inside() { set_mode(Mode::kOn); }
    Inside(const Inside&) = delete;
    Inside& operator=(const Inside&) = delete;
};

}  // namespace assay::sandbox::test
