// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <type_traits>

#include <CLI/CLI.hpp>

#include <tools/cli/common/session.hpp>

namespace assay::cli {

/// Adds the subcommand `name`. It runs `run` with the arguments that its options fill in.
template <class Arguments>
CLI::App* add_command(
    CLI::App& group, Session& session, const char* name, const char* help, std::shared_ptr<Arguments> arguments,
    int (*run)(const Session&, const std::type_identity_t<Arguments>&)
) {
    CLI::App* const command = group.add_subcommand(name, help);
    command->callback([&session, arguments, run] {
        session.command = [&session, arguments, run] { return run(session, *arguments); };
    });
    return command;
}

}  // namespace assay::cli
