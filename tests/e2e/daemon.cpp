// SPDX-License-Identifier: Apache-2.0
#include <tests/e2e/daemon.hpp>

#include <csignal>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <thread>

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <tests/unit/folders.hpp>

namespace assay::e2e {
namespace {

std::string read_text(const std::filesystem::path& file) {
    std::ifstream in(file, std::ios::binary);
    std::ostringstream out;
    out << in.rdbuf();
    return out.str();
}

}  // namespace

Daemon::Daemon(const std::vector<std::string>& arguments, const std::filesystem::path& logs) : logs_(logs) {
    std::filesystem::create_directories(logs_);
    std::vector<std::string> words{folders::build() + "/bin/assayd"};
    words.insert(words.end(), arguments.begin(), arguments.end());
    std::vector<char*> argv;
    for (std::string& word : words) {
        argv.push_back(word.data());
    }
    argv.push_back(nullptr);
    // Emptied before the child runs, so that nobody reads what an earlier one said.
    const int out_fd = ::open((logs_ / "out").c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    const int err_fd = ::open((logs_ / "err").c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    pid_ = ::fork();
    if (pid_ < 0 || out_fd < 0 || err_fd < 0) {
        throw std::runtime_error("cannot start a process");
    }
    if (pid_ == 0) {
        ::dup2(out_fd, STDOUT_FILENO);
        ::dup2(err_fd, STDERR_FILENO);
        ::execv(argv[0], argv.data());
        ::_exit(127);
    }
    ::close(out_fd);
    ::close(err_fd);
}

Daemon::~Daemon() {
    if (!exit_) {
        ::kill(pid_, SIGKILL);
        ::waitpid(pid_, nullptr, 0);
    }
}

std::optional<Daemon::Ready> Daemon::await_ready(std::chrono::milliseconds timeout) {
    const auto give_up_at = std::chrono::steady_clock::now() + timeout;
    while (std::chrono::steady_clock::now() < give_up_at && !await_exit(std::chrono::milliseconds(0))) {
        const std::string text = out();
        const std::string height_mark = ", height ";
        const std::string rpc_mark = ", rpc ";
        const auto start = text.find("assayd ready: chain ");
        const auto end = start == std::string::npos ? start : text.find('\n', start);
        if (end != std::string::npos) {
            const auto height = text.find(height_mark, start);
            const auto rpc = text.find(rpc_mark, start) + rpc_mark.size();
            return Ready{
                .height = std::stoull(text.substr(height + height_mark.size())), .url = text.substr(rpc, end - rpc)};
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
    return std::nullopt;
}

void Daemon::signal(int number) const {
    if (!exit_) {
        ::kill(pid_, number);
    }
}

std::optional<int> Daemon::await_exit(std::chrono::milliseconds timeout) {
    const auto give_up_at = std::chrono::steady_clock::now() + timeout;
    while (!exit_) {
        int status = 0;
        if (::waitpid(pid_, &status, WNOHANG) == pid_) {
            exit_ = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
            break;
        }
        if (std::chrono::steady_clock::now() >= give_up_at) {
            break;
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
    return exit_;
}

std::string Daemon::out() const { return read_text(logs_ / "out"); }
std::string Daemon::err() const { return read_text(logs_ / "err"); }

}  // namespace assay::e2e
