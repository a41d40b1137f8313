// SPDX-License-Identifier: Apache-2.0
#include <core/system/file_lock.hpp>

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

namespace assay::system {
namespace {

std::string holder_of(int descriptor) {
    std::array<char, 32> text{};
    const ssize_t size = ::pread(descriptor, text.data(), text.size() - 1, 0);
    std::string pid(text.data(), size > 0 ? static_cast<std::size_t>(size) : 0U);
    pid.erase(pid.find_last_not_of('\n') + 1);
    return pid.empty() ? "another process" : "process " + pid;
}

}  // namespace

FileLock::FileLock(const std::filesystem::path& file)
    : descriptor_(::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644)) {
    const auto fail = [&](const char* what, std::optional<std::string> holder = std::nullopt) {
        const std::string reason = holder ? *holder + " holds it" : std::string(std::strerror(errno));
        if (descriptor_ >= 0) {
            ::close(descriptor_);
        }
        throw LockError(std::string("cannot ") + what + " " + file.string() + ": " + reason, std::move(holder));
    };
    if (descriptor_ < 0) {
        fail("open");
    }
    if (::flock(descriptor_, LOCK_EX | LOCK_NB) != 0) {
        fail("lock", errno == EWOULDBLOCK ? std::optional(holder_of(descriptor_)) : std::nullopt);
    }
    const std::string pid = std::to_string(::getpid()) + "\n";
    if (::ftruncate(descriptor_, 0) != 0 ||
        ::pwrite(descriptor_, pid.data(), pid.size(), 0) != static_cast<ssize_t>(pid.size())) {
        fail("write");
    }
}

FileLock::~FileLock() { ::close(descriptor_); }

}  // namespace assay::system
