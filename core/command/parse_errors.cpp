// SPDX-License-Identifier: Apache-2.0
#include <core/command/parse_errors.hpp>

#include <vector>

namespace assay::command {

std::string text_of(const CLI::App& app, const CLI::ParseError& error) {
    if (dynamic_cast<const CLI::ExtrasError*>(&error) == nullptr) {
        return error.what();
    }
    const std::vector<std::string> extras = app.remaining(true);
    std::string out = extras.size() == 1 ? "this argument was not expected:" : "these arguments were not expected:";
    for (const std::string& argument : extras) {
        out += " " + argument;
    }
    return out;
}

}  // namespace assay::command
