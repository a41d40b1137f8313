// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>

#include <core/system/log/log.hpp>

namespace assay::log {

/// Adds --log-level, --log-format and --log-file to a command of CLI11 (CLI::App), to be read into `out`.
template <class Command>
void add_options(Command& command, Options& out) {
    command
        .add_option_function(
            "--log-level", std::function([&out](const std::string& name) { out.level = *decode_level(name); }),
            "Least level of what is logged: debug, info, warning or error; default: info"
        )
        ->check([](const std::string& name) { return decode_level(name) ? "" : name + " is no level of the log"; });
    command
        .add_option_function(
            "--log-format", std::function([&out](const std::string& name) { out.format = *decode_format(name); }),
            "Format of the log: text or json; default: text"
        )
        ->check([](const std::string& name) { return decode_format(name) ? "" : name + " is no format of the log"; });
    command.add_option("--log-file", out.file, "Write the log to this file, in the place of standard error");
}

}  // namespace assay::log
