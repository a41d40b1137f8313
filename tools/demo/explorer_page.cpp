// SPDX-License-Identifier: Apache-2.0
#include <tools/demo/explorer_page.hpp>

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <sstream>
#include <string>

namespace assay::demo {
namespace {

bool is_set(const char* variable) {
    const char* const value = std::getenv(variable);
    return value != nullptr && *value != '\0';
}

/// The program's file on the PATH; empty if there is none.
std::string find_program(const std::string& name) {
    const char* const path = std::getenv("PATH");
    std::istringstream parts(path == nullptr ? "" : path);
    for (std::string part; std::getline(parts, part, ':');) {
        std::string file = part;
        file.append("/").append(name);
        if (!part.empty() && ::access(file.c_str(), X_OK) == 0) {
            return file;
        }
    }
    return "";
}

}  // namespace

bool wants_browser(const DemoOptions& options, bool is_terminal) {
    return options.open && !options.json && is_terminal && (is_set("DISPLAY") || is_set("WAYLAND_DISPLAY"));
}

bool open_in_browser(const std::string& url) {
    const std::string program = find_program("xdg-open");
    if (program.empty()) {
        return false;
    }
    // Two forks: the browser is nobody's child here, so that the demo's end does not end it and nothing waits for it.
    const pid_t child = ::fork();
    if (child == 0) {
        ::setsid();
        if (::fork() == 0) {
            const int nothing = ::open("/dev/null", O_RDWR);
            ::dup2(nothing, STDIN_FILENO);
            ::dup2(nothing, STDOUT_FILENO);
            ::dup2(nothing, STDERR_FILENO);
            ::execl(program.c_str(), program.c_str(), url.c_str(), nullptr);
        }
        ::_exit(0);
    }
    return child > 0 && ::waitpid(child, nullptr, 0) == child;
}

std::string announce_explorer(const DemoOptions& options, const std::string& url) {
    const bool is_opened = wants_browser(options, ::isatty(STDOUT_FILENO) == 1) && open_in_browser(url);
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
