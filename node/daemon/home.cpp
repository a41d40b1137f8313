// SPDX-License-Identifier: Apache-2.0
#include <node/daemon/home.hpp>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <fstream>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <core/system/file.hpp>
#include <client/engine_rpc.hpp>
#include <core/base/base64.hpp>
#include <core/base/bytes.hpp>
#include <core/keys/key_file.hpp>

namespace assay::node {
namespace {

[[noreturn]] void fail_errno(const std::string& what) { throw HomeError(what + ": " + std::strerror(errno)); }

void sync_directory(const std::filesystem::path& directory) {
    const int fd = ::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd >= 0) {
        ::fsync(fd);
        ::close(fd);
    }
}

}  // namespace

Home default_home() {
    if (const char* const home = std::getenv("ASSAY_HOME"); home != nullptr && *home != '\0') {
        return {home};
    }
    const char* const user = std::getenv("HOME");
    return {std::filesystem::path(user != nullptr && *user != '\0' ? user : ".") / ".assay"};
}

void write_node_key(const std::filesystem::path& file, const crypto::SecretKey& key) {
    try {
        crypto::write_private_file(file, to_hex(key.bytes()) + "\n");
    } catch (const crypto::KeyFileError& error) {
        throw HomeError(error.what());
    }
}

crypto::SecretKey read_node_key(const std::filesystem::path& file) {
    try {
        return crypto::read_hex_key(file);
    } catch (const crypto::KeyFileError& error) {
        throw HomeError(error.what());
    }
}

HomeLock::HomeLock(const Home& home) {
    fd_ = ::open(home.lock().c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
    if (fd_ < 0) {
        fail_errno("cannot open " + home.lock().string());
    }
    if (::flock(fd_, LOCK_EX | LOCK_NB) != 0) {
        const int reason = errno;
        std::array<char, 32> text{};
        const ssize_t size = ::pread(fd_, text.data(), text.size() - 1, 0);
        ::close(fd_);
        if (reason != EWOULDBLOCK) {
            errno = reason;
            fail_errno("cannot lock " + home.lock().string());
        }
        std::string pid(text.data(), size > 0 ? static_cast<std::size_t>(size) : 0U);
        pid.erase(pid.find_last_not_of('\n') + 1);
        throw HomeError(
            home.root.string() + " is in use by another assayd" + (pid.empty() ? "" : ", process " + pid) +
            ": stop it first, or give --home"
        );
    }
    const std::string pid = std::to_string(::getpid()) + "\n";
    if (::ftruncate(fd_, 0) != 0 || ::pwrite(fd_, pid.data(), pid.size(), 0) != static_cast<ssize_t>(pid.size())) {
        ::close(fd_);
        fail_errno("cannot write " + home.lock().string());
    }
}

HomeLock::~HomeLock() { ::close(fd_); }

void write_text(const std::filesystem::path& file, const std::string& text) {
    const auto temporary = std::filesystem::path(file.string() + ".new");
    if (!system::write_file(temporary, text)) {
        throw HomeError("cannot write " + temporary.string());
    }
    std::filesystem::rename(temporary, file);
}

std::string utc_now() {
    const std::time_t now = std::time(nullptr);
    std::tm parts{};
    ::gmtime_r(&now, &parts);
    std::array<char, 32> text{};
    const std::size_t size = std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &parts);
    return {text.data(), size};
}

contracts::ConsensusKey consensus_key(const cometbft::Validator& validator) {
    const auto bytes = from_base64(validator.public_key);
    contracts::ConsensusKey out;
    if (!bytes || bytes->size() != out.data.size()) {
        throw HomeError(
            "\"" + validator.public_key + "\" is not a validator's key: an Ed25519 public key in base64 is needed"
        );
    }
    std::copy(bytes->begin(), bytes->end(), out.data.begin());
    return out;
}

LastStop take_last_stop(const Home& home) {
    if (!std::filesystem::exists(home.block_log()) && !std::filesystem::exists(home.db())) {
        return LastStop::kFirstStart;
    }
    if (!std::filesystem::remove(home.clean_stop())) {
        return LastStop::kUnclean;
    }
    sync_directory(home.data());
    return LastStop::kClean;
}

void mark_clean_stop(const Home& home) {
    const int fd = ::open(home.clean_stop().c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    if (fd >= 0) {
        ::fsync(fd);
        ::close(fd);
        sync_directory(home.data());
    }
}

}  // namespace assay::node
