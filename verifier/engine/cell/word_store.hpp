// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <torch/csrc/distributed/c10d/Store.hpp>
#include <verifier/engine/cell/shared_words.hpp>

/// Internal to the cell.
namespace assay::engine::cell {

/// What c10d asks of a store, by the cell's own table: libtorch's TCPStore listens on all interfaces and asks nobody
/// who he is. Neither gloo nor NCCL counts, deletes or compares.
class WordStore final : public c10d::Store {
  public:
    /// `prefix` is put before each key, so that several groups can have one table.
    explicit WordStore(std::shared_ptr<SharedWords> words, std::string prefix = {})
        : words_(std::move(words)), prefix_(std::move(prefix)) {}

    void set(const std::string& key, const std::vector<std::uint8_t>& value) override {
        words_->set(prefix_ + key, Bytes(value.begin(), value.end()));
    }
    std::vector<std::uint8_t> get(const std::string& key) override {
        const Bytes value = words_->get(prefix_ + key);
        return {value.begin(), value.end()};
    }
    void wait(const std::vector<std::string>& keys) override {
        for (const std::string& key : keys) {
            words_->get(prefix_ + key);
        }
    }
    void wait(const std::vector<std::string>& keys, const std::chrono::milliseconds& /*timeout*/) override {
        wait(keys);
    }
    std::int64_t add(const std::string& /*key*/, std::int64_t /*value*/) override { throw unexpected(); }
    bool deleteKey(const std::string& /*key*/) override { throw unexpected(); }
    /// Asked only whether another process gave c10d's signal to dump its traces, which no rank of a cell gives.
    bool check(const std::vector<std::string>& /*keys*/) override { return false; }
    std::int64_t getNumKeys() override { throw unexpected(); }
    // Not marked `override`, since c10d's Store asks for it only in newer releases of libtorch.
    c10::intrusive_ptr<c10d::Store> clone() { return c10::make_intrusive<WordStore>(words_, prefix_); }

  private:
    static std::runtime_error unexpected() {
        return std::runtime_error("c10d asks for what a cell's table does not have");
    }
    std::shared_ptr<SharedWords> words_;
    std::string prefix_;
};

}  // namespace assay::engine::cell
