// SPDX-License-Identifier: Apache-2.0
#include <verifier/engine/cell/gloo_collective.hpp>

#include <deque>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <ATen/ATen.h>
#include <torch/csrc/distributed/c10d/ProcessGroupGloo.hpp>
#include <verifier/engine/cell/word_store.hpp>

namespace assay::engine {
namespace {

class GlooCollective final : public Collective {
  public:
    GlooCollective(c10::intrusive_ptr<c10d::ProcessGroupGloo> group, const GlooOptions& options)
        : group_(std::move(group)), rank_(options.rank), size_(options.size) {}

    std::uint32_t rank() const override { return rank_; }
    std::uint32_t size() const override { return size_; }

    std::vector<Bytes> exchange(std::vector<Bytes> to, const std::vector<std::uint64_t>& expected, std::uint32_t tag)
        override {
        count(to);
        std::vector<Bytes> out(size_);
        guarded([&] {
            std::vector<c10::intrusive_ptr<c10d::Work>> works;
            for (std::uint32_t other = 0; other < size_; ++other) {
                if (expected[other] != 0) {
                    out[other].resize(expected[other]);
                    std::vector<at::Tensor> tensors{as_tensor(out[other])};
                    works.push_back(group_->recv(tensors, static_cast<int>(other), static_cast<int>(tag)));
                }
                if (!to[other].empty()) {
                    Sending& sending = sent_.emplace_back(Sending{std::move(to[other]), {}});
                    std::vector<at::Tensor> tensors{as_tensor(sending.bytes)};
                    sending.work = group_->send(tensors, static_cast<int>(other), static_cast<int>(tag));
                }
            }
            for (const auto& work : works) {
                work->wait();
            }
        });
        return out;
    }

    void settle() override {
        guarded([&] {
            for (; !sent_.empty(); sent_.pop_front()) {
                sent_.front().work->wait();
            }
        });
    }

  private:
    static at::Tensor as_tensor(Bytes& bytes) {
        return at::from_blob(bytes.data(), {static_cast<std::int64_t>(bytes.size())}, at::kByte);
    }
    // Bytes that gloo reads until `work` is done.
    struct Sending {
        Bytes bytes;
        c10::intrusive_ptr<c10d::Work> work;
    };
    template <typename F>
    static void guarded(F&& body) {
        try {
            body();
        } catch (const std::exception& error) {
            throw std::runtime_error(
                std::string("a rank of the cell is gone or too slow: ") + first_line(error.what())
            );
        }
    }
    static std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

    c10::intrusive_ptr<c10d::ProcessGroupGloo> group_;
    std::uint32_t rank_;
    std::uint32_t size_;
    std::deque<Sending> sent_;  // its elements stay where they are
};

// Waits until every rank has connected. To gloo, a rank that has connected and leaves with all that it needs, while
// this one still waits for a third, is a failure to connect.
void wait_for_all(SharedWords& words, const GlooOptions& options) {
    const auto word = [](std::uint32_t rank) { return "connected." + std::to_string(rank); };
    words.set(word(options.rank), {});
    for (std::uint32_t other = 0; other < options.size; ++other) {
        words.get(word(other));
    }
}

}  // namespace

std::unique_ptr<Collective> connect_gloo(const std::shared_ptr<SharedWords>& words, const GlooOptions& options) {
    try {
        const auto gloo = c10d::ProcessGroupGloo::Options::create(options.timeout);
        gloo->devices.push_back(c10d::ProcessGroupGloo::createDeviceForHostname(options.address));
        gloo->threads = 2;
        const auto store = c10::make_intrusive<cell::WordStore>(words);
        auto group = c10::make_intrusive<c10d::ProcessGroupGloo>(
            store, static_cast<int>(options.rank), static_cast<int>(options.size), gloo
        );
        wait_for_all(*words, options);
        return std::make_unique<GlooCollective>(std::move(group), options);
    } catch (const std::exception& error) {
        throw std::runtime_error(std::string("the ranks of the cell cannot connect: ") + error.what());
    }
}

}  // namespace assay::engine
