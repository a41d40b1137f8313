// SPDX-License-Identifier: Apache-2.0
#include <tools/bench/signed_links.hpp>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <stdexcept>
#include <thread>
#include <utility>
#include <vector>

#include <tools/bench/bench.hpp>
#include <verifier/cell/tls_collective.hpp>

namespace assay::bench {
namespace {

using group::StatementCost;

constexpr std::uint64_t kSignedLedgerBytes = std::uint64_t{1} << 34U;
constexpr std::chrono::milliseconds kSignedPatience{120'000};

class FileWords final : public engine::SharedWords {
  public:
    explicit FileWords(std::filesystem::path directory) : directory_(std::move(directory)) {
        std::filesystem::create_directories(directory_);
    }
    void set(const std::string& key, const Bytes& value) override {
        const std::filesystem::path part = path_of(key).concat(".part");
        std::ofstream(part, std::ios::binary) << string_of(value);
        std::filesystem::rename(part, path_of(key));
    }
    Bytes get(const std::string& key) override {
        const auto end = std::chrono::steady_clock::now() + kSignedPatience;
        while (!std::filesystem::exists(path_of(key))) {
            if (std::chrono::steady_clock::now() > end) {
                throw std::runtime_error("no rank wrote " + path_of(key).string());
            }
            std::this_thread::sleep_for(std::chrono::milliseconds(20));
        }
        return to_bytes(read_file(path_of(key).string()));
    }

  private:
    std::filesystem::path path_of(std::string key) const {
        std::replace(key.begin(), key.end(), '/', '-');
        return directory_ / key;
    }
    std::filesystem::path directory_;
};

// Reads what a rank has used whenever it begins a step.
class MeteredCollective final : public engine::Collective {
  public:
    MeteredCollective(
        std::unique_ptr<engine::Collective> inner, std::shared_ptr<const StatementCost> cost,
        std::shared_ptr<Readings> readings
    )
        : inner_(std::move(inner)), cost_(std::move(cost)), readings_(std::move(readings)) {}
    std::uint32_t rank() const override { return inner_->rank(); }
    std::uint32_t size() const override { return inner_->size(); }
    std::vector<Bytes> exchange(std::vector<Bytes> to, const std::vector<std::uint64_t>& expected, std::uint32_t tag)
        override {
        note(to);
        return inner_->exchange(std::move(to), expected, tag);
    }
    std::vector<Bytes> exchange_stated(
        std::vector<Bytes> to, const std::vector<std::uint64_t>& expected, std::uint32_t tag,
        const engine::Contents& contents
    ) override {
        note(to);
        return inner_->exchange_stated(std::move(to), expected, tag, contents);
    }
    void settle() override { inner_->settle(); }
    void expect(const std::vector<engine::Ahead>& in_step) override { inner_->expect(in_step); }
    bool is_stated() const override { return inner_->is_stated(); }
    void begin_segment(const Hash256& before, std::uint64_t first_step) override {
        inner_->begin_segment(before, first_step);
    }
    void compare_state(const engine::GivenTensor& given, const canonical::Tensor& tensor) override {
        inner_->compare_state(given, tensor);
    }
    void end_segment() override { inner_->end_segment(); }
    void begin_step(std::uint64_t step) override {
        inner_->begin_step(step);
        // A step is also named when a tensor of the state before or after it crosses.
        readings_->try_emplace(
            step,
            Reading{
                .cpu_s = cpu_seconds(CLOCK_THREAD_CPUTIME_ID),
                .messages = messages_,
                .value_bytes = value_bytes_,
                .cost = cost_ ? *cost_ : StatementCost{}}
        );
    }

  private:
    void note(const std::vector<Bytes>& to) {
        count(to);
        for (const Bytes& message : to) {
            messages_ += message.empty() ? 0U : 1U;
            value_bytes_ += message.size();
        }
    }

    std::unique_ptr<engine::Collective> inner_;
    std::shared_ptr<const StatementCost> cost_;
    std::shared_ptr<Readings> readings_;
    std::uint64_t messages_ = 0;
    std::uint64_t value_bytes_ = 0;
};

crypto::SecretKey key_of_rank(std::uint32_t rank) {
    Bytes bytes(32, 3);
    bytes[31] = static_cast<std::uint8_t>(rank + 1);
    return crypto::SecretKey::from_bytes(bytes).value();
}

}  // namespace

double cpu_seconds(clockid_t clock) {
    timespec now{};
    ::clock_gettime(clock, &now);
    return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

std::unique_ptr<engine::SharedWords> make_file_words(const std::filesystem::path& directory) {
    return std::make_unique<FileWords>(directory);
}

std::unique_ptr<engine::Collective> connect_side(
    Side side, engine::SharedWords& words, const SignedLink& link, std::shared_ptr<Readings> readings
) {
    std::vector<AccountId> accounts;
    for (std::uint32_t other = 0; other < link.ranks; ++other) {
        accounts.push_back(key_of_rank(other).account());
    }
    auto links = cell::connect_tls(
        words, {.rank = link.rank,
                .size = link.ranks,
                .address = link.address,
                .key = {},
                .accounts = cell::LinkAccounts{.key = key_of_rank(link.rank), .accounts = accounts},
                .connect = kSignedPatience,
                .timeout = kSignedPatience}
    );
    if (side == kPlain) {
        return std::make_unique<MeteredCollective>(std::move(links), nullptr, std::move(readings));
    }
    group::Signers signers{.chain_id = "assay-bench", .task = link.root, .accounts = std::move(accounts)};
    const auto check = [root = link.root](const Hash256& before, std::uint64_t first_step) {
        return first_step == 0 && before == root;
    };
    auto stated = std::make_unique<group::SignedCollective>(
        std::move(links), std::move(signers), key_of_rank(link.rank),
        std::make_shared<group::Ledger>(link.ledger, kSignedLedgerBytes), check
    );
    auto cost = stated->shared_cost();
    return std::make_unique<MeteredCollective>(std::move(stated), std::move(cost), std::move(readings));
}

}  // namespace assay::bench
