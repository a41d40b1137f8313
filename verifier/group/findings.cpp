// SPDX-License-Identifier: Apache-2.0
#include <verifier/group/findings.hpp>

#include <algorithm>
#include <charconv>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <system_error>
#include <utility>

#include <core/codec/borsh.hpp>

namespace assay::group {
namespace {

constexpr const char* kFoundExtension = ".found";

/// The number of a finding in its file's name; nothing if the file is none of ours.
std::optional<std::uint64_t> number_of(const std::filesystem::path& file) {
    const std::string stem = file.stem().string();
    std::uint64_t out = 0;
    const auto [end, error] = std::from_chars(stem.data(), stem.data() + stem.size(), out);
    const bool is_number = error == std::errc() && end == stem.data() + stem.size() && out < ~std::uint64_t{0};
    return is_number && file.extension() == kFoundExtension ? std::optional(out) : std::nullopt;
}

std::optional<Finding> read_finding(const std::filesystem::path& file) {
    std::ifstream in(file, std::ios::binary);
    const Bytes bytes{std::istreambuf_iterator<char>(in), {}};
    auto out = codec::decode<Finding>(bytes);
    return out ? std::optional(*std::move(out)) : std::nullopt;
}

}  // namespace

Findings::Findings(std::filesystem::path directory) : directory_(std::move(directory)) {
    std::filesystem::create_directories(*directory_);
    for (const auto& entry : std::filesystem::directory_iterator(*directory_)) {
        const auto number = number_of(entry.path());
        if (!number) {
            continue;
        }
        next_ = std::max(next_, *number + 1);
        // What a disk has damaged is left out.
        if (auto finding = read_finding(entry.path())) {
            members_.insert(finding->member);
            unsettled_.emplace(*number, *std::move(finding));
        }
    }
}

std::filesystem::path Findings::file_of(std::uint64_t number) const {
    return *directory_ / (std::to_string(number) + kFoundExtension);
}

// Whoever is killed on the way leaves a file with another name.
void Findings::write(std::uint64_t number, const Finding& finding) const {
    const std::filesystem::path file = file_of(number);
    const std::filesystem::path temporary = file.string() + ".new";
    const Bytes bytes = codec::encode(finding);
    std::ofstream out(temporary, std::ios::binary | std::ios::trunc);
    out.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
    out.close();
    std::error_code error;
    if (out) {
        std::filesystem::rename(temporary, file, error);
    }
    if (!out || error) {
        throw std::runtime_error("evidence of an equivocation cannot be written: " + file.string());
    }
}

void Findings::add(std::vector<Finding> findings) {
    const std::scoped_lock lock(mutex_);
    const std::uint64_t first = next_;
    for (Finding& finding : findings) {
        members_.insert(finding.member);
        unsettled_.emplace(next_++, std::move(finding));
    }
    for (std::uint64_t number = first; directory_ && number < next_; ++number) {
        write(number, unsettled_.at(number));
    }
}

void Findings::settle(const std::function<bool(const Finding&)>& is_settled) {
    std::map<std::uint64_t, Finding> all;
    {
        const std::scoped_lock lock(mutex_);
        all = unsettled_;
    }
    // Whoever asks the chain waits for a block, and nobody who adds something waits for that.
    for (const auto& [number, finding] : all) {
        if (!is_settled(finding)) {
            continue;
        }
        const std::scoped_lock lock(mutex_);
        unsettled_.erase(number);
        if (directory_) {
            std::error_code ignored;  // what stays is settled once more after a restart
            std::filesystem::remove(file_of(number), ignored);
        }
    }
}

std::vector<Finding> Findings::unsettled() const {
    const std::scoped_lock lock(mutex_);
    std::vector<Finding> out;
    for (const auto& [number, finding] : unsettled_) {
        out.push_back(finding);
    }
    return out;
}

std::set<AccountId> Findings::members() const {
    const std::scoped_lock lock(mutex_);
    return members_;
}

}  // namespace assay::group
