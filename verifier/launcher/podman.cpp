// SPDX-License-Identifier: Apache-2.0
#include <verifier/launcher/podman.hpp>

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <optional>
#include <thread>

extern char** environ;

namespace assay::launcher {
namespace {

constexpr std::chrono::milliseconds kLook{50};
constexpr std::size_t kComplaintMax = 1'000;  // characters of standard error that a message has

/// A file descriptor that is closed at the end.
class Descriptor {
  public:
    explicit Descriptor(int fd) : fd_(fd) {}
    ~Descriptor() { close(); }
    Descriptor(const Descriptor&) = delete;
    Descriptor& operator=(const Descriptor&) = delete;
    int get() const { return fd_; }
    void close() {
        if (fd_ >= 0) {
            ::close(fd_);
            fd_ = -1;
        }
    }

  private:
    int fd_;
};

class FileActions {
  public:
    FileActions() { ::posix_spawn_file_actions_init(&actions_); }
    ~FileActions() { ::posix_spawn_file_actions_destroy(&actions_); }
    FileActions(const FileActions&) = delete;
    FileActions& operator=(const FileActions&) = delete;
    void duplicate(int from, int to) { ::posix_spawn_file_actions_adddup2(&actions_, from, to); }
    const posix_spawn_file_actions_t* get() const { return &actions_; }

  private:
    posix_spawn_file_actions_t actions_{};
};

/// `own_group`: the child is in a process group of its own, so that Ctrl-C in the terminal reaches this process alone.
pid_t start(const CommandLine& command, const FileActions& files, bool own_group) {
    std::vector<std::string> arguments = command;
    std::vector<char*> argv;
    argv.reserve(arguments.size() + 1);
    for (std::string& argument : arguments) {
        argv.push_back(argument.data());
    }
    argv.push_back(nullptr);
    posix_spawnattr_t attributes{};
    ::posix_spawnattr_init(&attributes);
    if (own_group) {
        ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
    }
    pid_t pid = -1;
    const int error = ::posix_spawnp(&pid, argv[0], files.get(), &attributes, argv.data(), environ);
    ::posix_spawnattr_destroy(&attributes);
    if (error != 0) {
        throw PodmanError(
            "cannot start " + command.front() + ": " + std::strerror(error) +
            "; install podman (on Debian: apt-get install podman), or name it with --podman"
        );
    }
    return pid;
}

/// The exit status once the child has ended; nullopt while it runs.
std::optional<int> status_of(pid_t pid, bool waits) {
    int status = 0;
    pid_t ended = -1;
    do {
        ended = ::waitpid(pid, &status, waits ? 0 : WNOHANG);
    } while (ended < 0 && errno == EINTR);
    if (ended == 0) {
        return std::nullopt;
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

std::array<int, 2> make_pipe() {
    std::array<int, 2> fds{};
    if (::pipe2(fds.data(), O_CLOEXEC) != 0) {
        throw PodmanError(std::string("cannot make a pipe: ") + std::strerror(errno));
    }
    return fds;
}

std::string read_all(int fd) {
    std::string out;
    std::array<char, 4096> buffer{};
    for (;;) {
        const ssize_t count = ::read(fd, buffer.data(), buffer.size());
        if (count < 0 && errno == EINTR) {
            continue;
        }
        if (count <= 0) {
            return out;
        }
        out.append(buffer.data(), static_cast<std::size_t>(count));
    }
}

}  // namespace

std::string output_of(const CommandLine& command) {
    const auto out = make_pipe();
    const auto error = make_pipe();
    Descriptor out_read(out[0]);
    Descriptor out_write(out[1]);
    Descriptor error_read(error[0]);
    Descriptor error_write(error[1]);
    FileActions files;
    files.duplicate(out_write.get(), STDOUT_FILENO);
    files.duplicate(error_write.get(), STDERR_FILENO);
    const pid_t pid = start(command, files, false);
    out_write.close();
    error_write.close();
    std::string complaint;
    std::thread listener([&] { complaint = read_all(error_read.get()); });
    std::string text = read_all(out_read.get());
    listener.join();
    const int status = status_of(pid, true).value();
    if (status != 0) {
        const std::size_t from = complaint.size() - std::min(complaint.size(), kComplaintMax);
        throw PodmanError(
            "`" + command.front() + " " + (command.size() > 1 ? command[1] : "") + "` ended with " +
            std::to_string(status) + ": " + complaint.substr(from)
        );
    }
    return text;
}

int follow(const CommandLine& command, const Stopping& stopping) {
    const FileActions files;
    const pid_t pid = start(command, files, true);
    std::optional<std::chrono::steady_clock::time_point> asked;
    bool is_killed = false;
    for (;;) {
        if (const auto status = status_of(pid, false)) {
            return *status;
        }
        const auto now = std::chrono::steady_clock::now();
        if (stopping.requested && !asked) {
            ::kill(pid, SIGTERM);
            asked = now;
        }
        if (asked && !is_killed && now - *asked >= stopping.grace) {
            is_killed = true;
            try {
                output_of(stopping.kill);
            } catch (const PodmanError&) {
                ::kill(pid, SIGKILL);  // it does not know the container, or has ended it meanwhile
            }
        }
        std::this_thread::sleep_for(kLook);
    }
}

}  // namespace assay::launcher
