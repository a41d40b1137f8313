// SPDX-License-Identifier: Apache-2.0
#include <core/system/process.hpp>

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <stdexcept>
#include <utility>

namespace assay::system {
namespace {

/// In the child, after fork: only async-signal-safe calls.
[[noreturn]] void become(char* const* argv, int stdout_fd, int stderr_fd) {
    ::prctl(PR_SET_PDEATHSIG, SIGTERM);
    ::dup2(stdout_fd, STDOUT_FILENO);
    ::dup2(stderr_fd, STDERR_FILENO);
    const int null_fd = ::open("/dev/null", O_RDONLY);
    ::dup2(null_fd, STDIN_FILENO);
    ::setpgid(0, 0);  // Ctrl-C in the terminal is the parent's to handle
    ::execv(argv[0], argv);
    ::_exit(127);
}

void read_lines(int fd, const Process::LineHandler& on_line) {
    std::string pending;
    std::array<char, 4096> buffer{};
    for (;;) {
        const ssize_t count = ::read(fd, buffer.data(), buffer.size());
        if (count < 0 && errno == EINTR) {
            continue;
        }
        if (count <= 0) {
            break;
        }
        pending.append(buffer.data(), static_cast<std::size_t>(count));
        for (std::size_t end = pending.find('\n'); end != std::string::npos; end = pending.find('\n')) {
            on_line(pending.substr(0, end));
            pending.erase(0, end + 1);
        }
    }
    ::close(fd);
}

int to_exit_status(int wait_status) {
    return WIFEXITED(wait_status) ? WEXITSTATUS(wait_status) : 128 + WTERMSIG(wait_status);
}

}  // namespace

Process::Process(
    std::string name, std::vector<std::string> arguments, const std::filesystem::path& log, LineHandler on_line
)
    : name_(std::move(name)), log_(log) {
    std::vector<char*> argv;
    argv.reserve(arguments.size() + 1);
    for (std::string& argument : arguments) {
        argv.push_back(argument.data());
    }
    argv.push_back(nullptr);
    if (!std::filesystem::exists(arguments.front())) {
        throw std::runtime_error("cannot start " + name_ + ": " + arguments.front() + " does not exist");
    }
    std::array<int, 2> pipe_fds{};
    if (::pipe2(pipe_fds.data(), O_CLOEXEC) != 0) {
        throw std::runtime_error("cannot make a pipe for " + name_ + ": " + std::strerror(errno));
    }
    const int log_fd = ::open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
    if (log_fd < 0) {
        throw std::runtime_error("cannot write " + log.string() + ": " + std::strerror(errno));
    }
    pid_ = ::fork();
    if (pid_ == 0) {
        become(argv.data(), pipe_fds[1], log_fd);
    }
    ::close(pipe_fds[1]);
    ::close(log_fd);
    if (pid_ < 0) {
        ::close(pipe_fds[0]);
        throw std::runtime_error("cannot start " + name_ + ": " + std::strerror(errno));
    }
    reader_ = std::thread([fd = pipe_fds[0], handler = std::move(on_line)] { read_lines(fd, handler); });
}

Process::~Process() {
    stop();
    if (reader_.joinable()) {
        reader_.join();
    }
}

std::optional<int> Process::exit_status() {
    if (!status_) {
        int wait_status = 0;
        if (::waitpid(pid_, &wait_status, WNOHANG) == pid_) {
            status_ = to_exit_status(wait_status);
        }
    }
    return status_;
}

int Process::stop(std::chrono::milliseconds grace) {
    if (exit_status()) {
        return *status_;
    }
    ::kill(pid_, SIGTERM);
    const auto give_up_at = std::chrono::steady_clock::now() + grace;
    while (!exit_status()) {
        if (std::chrono::steady_clock::now() > give_up_at) {
            ::kill(pid_, SIGKILL);
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    return *status_;
}

void Process::kill() {
    if (!exit_status()) {
        ::kill(pid_, SIGKILL);
        while (!exit_status()) {
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
        }
    }
}

}  // namespace assay::system
