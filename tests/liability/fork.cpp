// SPDX-License-Identifier: Apache-2.0
#include <tests/liability/fork.hpp>

#include <array>
#include <cerrno>
#include <cstdio>
#include <iostream>

#include <sys/wait.h>
#include <unistd.h>

#include <tests/simulation/replica.hpp>

namespace assay::liability {
namespace {

constexpr unsigned kLongestSeconds = 600;
using simulation::Broken;

void write_all(int file, const std::string& text) {
    std::size_t written = 0;
    while (written < text.size()) {
        const ssize_t count = ::write(file, text.data() + written, text.size() - written);
        if (count <= 0) {
            return;  // the answer stays without its end, which the other side sees
        }
        written += static_cast<std::size_t>(count);
    }
}

std::string read_all(int file) {
    std::string out;
    std::array<char, 4'096> piece{};
    for (ssize_t count = 1; count > 0;) {
        count = ::read(file, piece.data(), piece.size());
        if (count < 0 && errno == EINTR) {
            count = 1;
            continue;
        }
        out.append(piece.data(), static_cast<std::size_t>(std::max<ssize_t>(count, 0)));
    }
    return out;
}

}  // namespace

std::string in_copy(const std::function<std::string()>& what) {
    constexpr char kEnd = '\n';
    std::array<int, 2> ends{};
    std::cout.flush();
    std::fflush(nullptr);
    if (::pipe(ends.data()) != 0) {
        throw Broken("no pipe to a fork");
    }
    const pid_t child = ::fork();
    if (child < 0) {
        throw Broken("no fork");
    }
    if (child == 0) {
        ::close(ends[0]);
        ::alarm(kLongestSeconds);
        write_all(ends[1], what() + kEnd);
        ::_exit(0);
    }
    ::close(ends[1]);
    std::string answer = read_all(ends[0]);
    ::close(ends[0]);
    int status = 0;
    while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0 || answer.empty() || answer.back() != kEnd) {
        throw Broken("a fork died");
    }
    answer.pop_back();
    return answer;
}

}  // namespace assay::liability
