// SPDX-License-Identifier: Apache-2.0
#include <client/http/tls_files.hpp>

#include <utility>

#include <sys/stat.h>

#include <client/http/http.hpp>
#include <client/http/tls_relay.hpp>

namespace assay::http {

TlsFiles::TlsFiles(std::filesystem::path certificate, std::filesystem::path key)
    : certificate_(std::move(certificate)), key_(std::move(key)), tried_(stamp()), seen_(tried_) {
    context_ = std::make_shared<boost::asio::ssl::context>(make_tls_context(certificate_, key_));
}

TlsFiles::Stamp TlsFiles::stamp() const {
    const auto of = [](const std::filesystem::path& file) -> std::array<std::uint64_t, 4> {
        struct stat found {};
        if (::stat(file.c_str(), &found) != 0) {
            return {};
        }
        return {
            found.st_ino, static_cast<std::uint64_t>(found.st_size), static_cast<std::uint64_t>(found.st_ctim.tv_sec),
            static_cast<std::uint64_t>(found.st_ctim.tv_nsec)};
    };
    return {of(certificate_), of(key_)};
}

std::optional<std::string> TlsFiles::look() {
    const Stamp now = stamp();
    const bool is_settled = now == seen_;
    seen_ = now;
    if (now == tried_ || !is_settled) {
        return std::nullopt;
    }
    tried_ = now;
    try {
        context_ = std::make_shared<boost::asio::ssl::context>(make_tls_context(certificate_, key_));
    } catch (const NetError& error) {
        return error.what();
    }
    return std::string();
}

}  // namespace assay::http
