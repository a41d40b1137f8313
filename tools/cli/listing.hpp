// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <tools/cli/session.hpp>

/// What groups of commands are made of.
namespace assay::cli {

/// A subcommand of `parent` that runs `action` with `session` and the group's options.
template <class Options>
CLI::App* add_action(
    CLI::App& parent, Session& session, const std::shared_ptr<Options>& options, const char* name, const char* help,
    void (*action)(const Session&, const Options&)
) {
    CLI::App* command = parent.add_subcommand(name, help);
    command->callback([&session, options, action] {
        session.command = [&session, options, action] {
            action(session, *options);
            return static_cast<int>(kExitOk);
        };
    });
    return command;
}

/// The first `count` items of a listing, following its cursors: {`name`: [...], "next_cursor": ...}.
nlohmann::json read_listing(
    const Session& session, const std::string& method, nlohmann::json params, const std::string& name,
    std::uint32_t count
);

}  // namespace assay::cli
