// SPDX-License-Identifier: Apache-2.0
#include <node/daemon/home.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <ctime>
#include <fstream>

#include <fcntl.h>
#include <unistd.h>

#include <core/system/file.hpp>
#include <core/system/sync_folder.hpp>
#include <client/engine_rpc.hpp>
#include <core/base/base64.hpp>
#include <core/base/bytes.hpp>
#include <core/keys/key_file.hpp>

namespace assay::node {

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
    try {
        lock_.emplace(home.lock());
    } catch (const system::LockError& error) {
        throw HomeError(
            error.holder() ? home.root.string() + " is in use by another assayd, " + *error.holder() +
                                 ": stop it first, or give --home"
                           : error.what()
        );
    }
}

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
    system::sync_folder(home.data());
    return LastStop::kClean;
}

LastStop read_last_stop(const Home& home) {
    return std::filesystem::exists(home.clean_stop()) ? LastStop::kClean : LastStop::kUnclean;
}

void mark_clean_stop(const Home& home) {
    const int fd = ::open(home.clean_stop().c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    if (fd >= 0) {
        ::fsync(fd);
        ::close(fd);
        system::sync_folder(home.data());
    }
}

}  // namespace assay::node
