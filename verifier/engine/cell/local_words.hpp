// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <condition_variable>
#include <map>
#include <mutex>
#include <stdexcept>
#include <string>

#include <verifier/engine/cell/shared_words.hpp>

namespace assay::engine {

/// Words that ranks share which are threads of one process.
class LocalWords : public SharedWords {
  public:
    /// `patience` is for how long a rank waits for a word.
    explicit LocalWords(std::chrono::milliseconds patience = std::chrono::seconds(20)) : patience_(patience) {}
    void set(const std::string& key, const Bytes& value) override {
        const std::scoped_lock lock(mutex_);
        words_[key] = value;
        changed_.notify_all();
    }
    Bytes get(const std::string& key) override {
        std::unique_lock lock(mutex_);
        if (!changed_.wait_for(lock, patience_, [&] { return words_.contains(key); })) {
            throw std::runtime_error("no rank has set " + key);
        }
        return words_[key];
    }

  private:
    std::chrono::milliseconds patience_;
    std::mutex mutex_;
    std::condition_variable changed_;
    std::map<std::string, Bytes> words_;
};

}  // namespace assay::engine
