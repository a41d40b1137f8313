// SPDX-License-Identifier: Apache-2.0
#include <verifier/sandbox/option.hpp>

#include <cstdint>
#include <string>

#include <verifier/sandbox/sandbox.hpp>

namespace assay::sandbox {

void add_option(CLI::App& app) {
    app.add_option_function<std::string>(
           "--sandbox", [](const std::string& text) { set_mode(text == "off" ? Mode::kOff : Mode::kOn); },
           "Parse strangers' files in a process that can do nothing else: on or off"
    )
        ->check(CLI::IsMember({"on", "off"}))
        ->envname("ASSAY_SANDBOX")
        ->default_str("on");
    app.add_option_function<std::uint32_t>(
           "--sandbox-limits", set_limits_factor, "How many times the usual memory and time a parser there may take"
    )
        ->check(CLI::Range(1, 1000))
        ->default_str("1");
}

}  // namespace assay::sandbox
