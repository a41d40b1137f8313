// SPDX-License-Identifier: Apache-2.0
#include <core/system/browser.hpp>

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <sstream>

namespace assay::system {
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

bool has_display() { return is_set("DISPLAY") || is_set("WAYLAND_DISPLAY"); }

bool open_in_browser(const std::string& what) {
    const std::string program = find_program("xdg-open");
    if (program.empty()) {
        return false;
    }
    // Two forks: the browser is nobody's child here, so that the end of this process does not end it and nothing waits
    // for it.
    const pid_t child = ::fork();
    if (child == 0) {
        ::setsid();
        if (::fork() == 0) {
            const int nothing = ::open("/dev/null", O_RDWR);
            ::dup2(nothing, STDIN_FILENO);
            ::dup2(nothing, STDOUT_FILENO);
            ::dup2(nothing, STDERR_FILENO);
            ::execl(program.c_str(), program.c_str(), what.c_str(), nullptr);
        }
        ::_exit(0);
    }
    return child > 0 && ::waitpid(child, nullptr, 0) == child;
}

}  // namespace assay::system
