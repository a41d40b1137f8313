// SPDX-License-Identifier: Apache-2.0
#include <core/keys/private_file.hpp>

#include <algorithm>
#include <array>
#include <cerrno>
#include <span>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <core/crypto/random.hpp>

namespace assay::crypto {
namespace {

constexpr std::size_t kFileMax = 64U << 10U;

void wipe_text(std::string& text) noexcept {
    text.resize(text.capacity());  // within what is allocated
    wipe({static_cast<std::uint8_t*>(static_cast<void*>(text.data())), text.size()});
    text.clear();
}

class File {
  public:
    explicit File(const std::filesystem::path& file) : fd_(::open(file.c_str(), O_RDONLY | O_CLOEXEC)) {}
    ~File() {
        if (fd_ >= 0) {
            ::close(fd_);
        }
    }
    File(const File&) = delete;
    File& operator=(const File&) = delete;
    int fd() const { return fd_; }

  private:
    int fd_;
};

}  // namespace

SecretText::SecretText(std::string& text) : text_(text) { wipe_text(text); }

SecretText::SecretText(SecretText&& other) noexcept { *this = std::move(other); }

SecretText& SecretText::operator=(SecretText&& other) noexcept {
    if (this != &other) {
        wipe_text(text_);
        text_.swap(other.text_);
        wipe_text(other.text_);
    }
    return *this;
}

SecretText::~SecretText() { wipe_text(text_); }

void SecretText::push_back(char c) {
    if (text_.size() == text_.capacity()) {  // growing would leave a copy behind
        std::string larger;
        larger.reserve(std::max<std::size_t>(64, 2 * text_.size()));
        larger += text_;
        text_.swap(larger);
        wipe_text(larger);
    }
    text_.push_back(c);
}

void SecretText::keep_first_line() noexcept {
    const std::size_t end = std::min(text_.find_first_of("\r\n"), text_.size());
    std::fill(text_.begin() + static_cast<std::ptrdiff_t>(end), text_.end(), '\0');
    text_.resize(end);
}

Result<SecretText, PrivateFileError> read_private_file(const std::filesystem::path& file) {
    const File from(file);
    struct ::stat info {};
    if (from.fd() < 0 || ::fstat(from.fd(), &info) != 0) {
        return Unexpected{PrivateFileError::kUnreadable};
    }
    // What is no file, such as a pipe of a shell, belongs to who opened it.
    if (S_ISREG(info.st_mode) && (info.st_mode & 077U) != 0) {
        return Unexpected{PrivateFileError::kOpenToOthers};
    }
    SecretText out;
    std::array<char, 256> buffer{};
    for (;;) {
        const ssize_t got = ::read(from.fd(), buffer.data(), buffer.size());
        if (got < 0 && errno == EINTR) {
            continue;
        }
        if (got < 0 || out.view().size() > kFileMax) {
            wipe({static_cast<std::uint8_t*>(static_cast<void*>(buffer.data())), buffer.size()});
            return Unexpected{got < 0 ? PrivateFileError::kUnreadable : PrivateFileError::kTooLong};
        }
        for (const char c : std::span(buffer).first(static_cast<std::size_t>(got))) {
            out.push_back(c);
        }
        wipe({static_cast<std::uint8_t*>(static_cast<void*>(buffer.data())), buffer.size()});
        if (got == 0) {
            return out;
        }
    }
}

std::string describe(PrivateFileError error, const std::filesystem::path& file) {
    switch (error) {
        case PrivateFileError::kUnreadable:
            return "cannot read " + file.string();
        case PrivateFileError::kOpenToOthers:
            return file.string() + " can be read by others: chmod 600 " + file.string() +
                   ", and change the secret if they did";
        case PrivateFileError::kTooLong:
            return file.string() + " is too long to be a key or a password";
    }
    return file.string();
}

}  // namespace assay::crypto
