// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>

#include <tools/demo/demo.hpp>

/// Where people see what the demo does: the explorer that its node serves, while it runs and afterwards.
namespace assay::demo {

/// Returns whether a page should be opened in a browser: there is a display (DISPLAY or WAYLAND_DISPLAY), a person
/// reads the story on a terminal, and the options do not forbid it.
bool wants_browser(const DemoOptions& options, bool is_terminal);

/// Opens the explorer where that is wanted. Returns the line of the story that says where it is.
std::string announce_explorer(const DemoOptions& options, const std::string& url);

/// Returns the line that says how to look at the chain again once the demo is over; `home` is the demo's.
std::string how_to_look_again(const DemoOptions& options, const std::filesystem::path& home);

}  // namespace assay::demo
