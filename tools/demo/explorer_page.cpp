// SPDX-License-Identifier: Apache-2.0
#include <tools/demo/explorer_page.hpp>

#include <unistd.h>

#include <string>

#include <core/system/browser.hpp>

namespace assay::demo {
bool wants_browser(const DemoOptions& options, bool is_terminal) {
    return options.open && !options.json && is_terminal && system::has_display();
}

std::string announce_explorer(const DemoOptions& options, const std::string& url) {
    const bool is_opened = wants_browser(options, ::isatty(STDOUT_FILENO) == 1) && system::open_in_browser(url);
    return "  watch it in a browser: " + url + (is_opened ? " (it is being opened)" : "") +
           (options.keep_running ? "" : ", as long as the demo runs");
}

std::string how_to_look_again(const DemoOptions& options, const std::filesystem::path& home) {
    if (options.keep_running) {
        return "  the network is left up, and its explorer with it";
    }
    if (options.home && options.validators == 0) {
        return "  to look again: assayd inspect --home " + (home / "node").string() +
               ", and open the address that it prints";
    }
    return std::string("  to look again: assay demo --keep-running leaves the network up") +
           (options.validators == 0 ? ", --home DIR keeps its chain for `assayd inspect`" : "");
}

}  // namespace assay::demo
