// SPDX-License-Identifier: Apache-2.0
#include <core/keys/password.hpp>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <utility>

#include <fcntl.h>
#include <termios.h>
#include <unistd.h>

namespace assay::crypto {
namespace {

volatile std::sig_atomic_t caught_signal = 0;
void on_signal(int signal) { caught_signal = signal; }

/// The terminal with echo off, and back as it was: also when the user gives up with Ctrl-C.
class QuietTerminal {
  public:
    QuietTerminal() : fd_(::open("/dev/tty", O_RDWR | O_CLOEXEC)) {
        if (fd_ < 0 || ::tcgetattr(fd_, &before_) != 0) {
            throw PasswordError(
                PasswordError::Reason::kNoTerminal,
                "there is no terminal to ask for a password: give --password-file FILE or set ASSAY_PASSWORD"
            );
        }
        caught_signal = 0;
        struct ::sigaction action {};
        action.sa_handler = on_signal;  // without SA_RESTART: read() returns
        ::sigaction(SIGINT, &action, &before_int_);
        ::sigaction(SIGTERM, &action, &before_term_);
        ::termios quiet = before_;
        quiet.c_lflag &= ~static_cast<tcflag_t>(ECHO);
        ::tcsetattr(fd_, TCSAFLUSH, &quiet);
    }
    ~QuietTerminal() {
        ::tcsetattr(fd_, TCSAFLUSH, &before_);
        ::close(fd_);
        ::sigaction(SIGINT, &before_int_, nullptr);
        ::sigaction(SIGTERM, &before_term_, nullptr);
        if (caught_signal != 0) {
            std::raise(caught_signal);
        }
    }
    QuietTerminal(const QuietTerminal&) = delete;
    QuietTerminal& operator=(const QuietTerminal&) = delete;

    SecretText ask(const std::string& prompt) const {
        say(prompt + ": ");
        SecretText line;
        char c = 0;
        while (caught_signal == 0 && ::read(fd_, &c, 1) == 1 && c != '\n') {
            line.push_back(c);
        }
        say("\n");
        if (caught_signal != 0) {
            throw PasswordError(PasswordError::Reason::kInterrupted, "interrupted");
        }
        return line;
    }

  private:
    void say(const std::string& text) const {
        if (::write(fd_, text.data(), text.size()) < 0) {
            throw PasswordError(PasswordError::Reason::kTerminal, "cannot write to the terminal");
        }
    }

    int fd_;
    ::termios before_{};
    struct ::sigaction before_int_ {};
    struct ::sigaction before_term_ {};
};

}  // namespace

SecretText read_password(const PasswordSource& source) {
    if (!source.file.empty()) {
        auto text = read_private_file(source.file);
        if (!text) {
            throw PasswordError(PasswordError::Reason::kFile, describe(text.error(), source.file));
        }
        text->keep_first_line();
        return *std::move(text);
    }
    if (char* const value = std::getenv(source.variable.c_str()); value != nullptr) {
        SecretText password;
        for (char* at = value; *at != '\0'; ++at) {
            password.push_back(*at);
            *at = 'x';
        }
        ::unsetenv(source.variable.c_str());
        return password;
    }
    const QuietTerminal terminal;
    SecretText password = terminal.ask(source.prompt);
    if (source.twice && terminal.ask(source.prompt + ", again").view() != password.view()) {
        throw PasswordError(PasswordError::Reason::kDifferent, "the two passwords are not the same");
    }
    return password;
}

}  // namespace assay::crypto
