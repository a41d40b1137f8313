// SPDX-License-Identifier: Apache-2.0
#include <verifier/engine/cell/nccl_collective.hpp>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <future>
#include <stdexcept>
#include <thread>
#include <utility>
#include <vector>

#include <ATen/ATen.h>
#include <c10/core/DeviceGuard.h>
#include <c10/cuda/CUDAFunctions.h>
#include <torch/csrc/distributed/c10d/ProcessGroupNCCL.hpp>
#include <torch/version.h>
#include <verifier/engine/cell/ordered_collective.hpp>
#include <verifier/engine/cell/word_store.hpp>

namespace assay::engine {
namespace {

using Clock = std::chrono::steady_clock;
using Group = c10d::ProcessGroupNCCL;

constexpr std::chrono::seconds kFarewell{10};
constexpr std::size_t kBuffer = std::size_t{8} << 20U;  // bytes that cross at once; each link has a buffer of so many

// Calls f in a thread, and gives it up if it is not done in time: nothing ends NCCL's own waiting for a rank that has
// died. Returns whether it is done; throws what f throws.
template <class F>
bool is_done_within(std::chrono::milliseconds limit, F f) {
    std::promise<void> promise;
    std::future<void> done = promise.get_future();
    std::thread([f = std::move(f), promise = std::move(promise)]() mutable {
        try {
            f();
            promise.set_value();
        } catch (...) {
            promise.set_exception(std::current_exception());
        }
    }).detach();
    if (done.wait_for(limit) != std::future_status::ready) {
        return false;
    }
    done.get();
    return true;
}

// What a rank tells all others in the table, and the wait until all have told it.
void say(SharedWords& words, const std::string& word, const NcclOptions& options) {
    words.set("nccl/" + word + "/" + std::to_string(options.rank), {1});
}
void wait_for_all(SharedWords& words, const std::string& word, const NcclOptions& options) {
    for (std::uint32_t other = 0; other < options.size; ++other) {
        words.get("nccl/" + word + "/" + std::to_string(other));
    }
}

// Options and functions that releases of libtorch have, or have not.
template <class Options>
void limit_blocks(Options& options, std::uint32_t blocks) {
    if constexpr (requires { options.config.maxCTAs = 1; }) {
        options.config.maxCTAs = static_cast<int>(blocks);
    }
}
template <class AnyGroup>
void shut_down(AnyGroup& group) {
    if constexpr (requires { group.shutdown(); }) {
        group.shutdown();
    } else {
        group.abort();
    }
}

// A link in one direction, between two ranks: a group of the two, of which 0 sends and 1 receives. Each direction has
// its own, since what a group does is done in one order, and two ranks that both send first would wait for each other.
struct Link {
    c10::intrusive_ptr<Group> group;
    at::Tensor buffer;
};

class NcclLinks final : public cell::OrderedLinks {
  public:
    NcclLinks(std::shared_ptr<SharedWords> words, const NcclOptions& options)
        : words_(std::move(words)),
          options_(options),
          device_(at::kCUDA, static_cast<at::DeviceIndex>(options.gpu)),
          outgoing_(options.size),
          incoming_(options.size) {}

    NcclLinks(const NcclLinks&) = delete;
    NcclLinks& operator=(const NcclLinks&) = delete;
    ~NcclLinks() override {
        if (!is_closed_) {
            abort();
        }
    }

    // Makes one link after the other, in an order that is the same on all ranks. NCCL makes each when bytes first cross
    // it, and takes memory of the device for it, which must not wait for a transfer.
    void connect() {
        say(*words_, "here", options_);
        wait_for_all(*words_, "here", options_);
        for (std::uint32_t from = 0; from < options_.size; ++from) {
            for (std::uint32_t to = 0; to < options_.size; ++to) {
                if (from != to && (from == options_.rank || to == options_.rank)) {
                    make_link(from, to);
                }
            }
        }
    }

    void send(std::uint32_t to, ByteView bytes) override {
        while (!bytes.empty()) {
            const ByteView part = bytes.first(std::min(bytes.size(), kBuffer));
            send_part(outgoing_[to], part, std::nullopt);
            bytes = bytes.subspan(part.size());
        }
    }

    void receive(std::uint32_t from, std::span<std::uint8_t> out) override {
        while (!out.empty()) {
            const std::span<std::uint8_t> part = out.first(std::min(out.size(), kBuffer));
            receive_part(incoming_[from], part, Clock::now() + options_.timeout);
            out = out.subspan(part.size());
        }
    }

    void abort() noexcept override {
        if (!is_aborted_.exchange(true)) {
            for_each_group([](Group& group) { group.abort(); });
        }
    }

    // What has left this rank may be on its way still, and NCCL drops it when a link ends: so all ranks wait until each
    // has what it wants. One that does not say so in time is gone.
    void close() noexcept override {
        try {
            is_closed_ = is_done_within(kFarewell, [words = words_, options = options_] {
                say(*words, "done", options);
                wait_for_all(*words, "done", options);
            });
        } catch (const std::exception&) {
            is_closed_ = false;
        }
        if (is_closed_) {
            for_each_group([](Group& group) { shut_down(group); });
        } else {
            abort();
        }
    }

  private:
    void make_link(std::uint32_t from, std::uint32_t to) {
        const bool is_sender = from == options_.rank;
        const auto group_options = Group::Options::create();
        group_options->timeout = 2 * (options_.connect + options_.timeout);  // ours come first
        limit_blocks(*group_options, nccl_blocks_per_link(options_.size));
        const auto store = c10::make_intrusive<cell::WordStore>(
            words_, "nccl/" + std::to_string(from) + ">" + std::to_string(to) + "/"
        );
        Link& link = is_sender ? outgoing_[to] : incoming_[from];
        link.group = c10::make_intrusive<Group>(store, is_sender ? 0 : 1, 2, group_options);
        const c10::DeviceGuard guard(device_);
        link.buffer = at::empty({static_cast<std::int64_t>(kBuffer)}, at::TensorOptions(device_).dtype(at::kByte));
        const auto deadline = Clock::now() + options_.connect;
        std::uint8_t greeting = 1;
        if (is_sender) {
            send_part(link, {&greeting, 1}, deadline);
        } else {
            receive_part(link, {&greeting, 1}, deadline);
        }
    }

    static at::Tensor on_host(const std::uint8_t* data, std::size_t size) {
        // libtorch has no tensors of constants; those of what is sent are only read.
        return at::from_blob(const_cast<std::uint8_t*>(data), {static_cast<std::int64_t>(size)}, at::kByte);
    }

    void send_part(Link& link, ByteView part, std::optional<Clock::time_point> deadline) {
        const c10::DeviceGuard guard(device_);
        std::vector<at::Tensor> tensors{link.buffer.narrow(0, 0, static_cast<std::int64_t>(part.size()))};
        tensors[0].copy_(on_host(part.data(), part.size()));
        finish(*link.group->send(tensors, 1, 0), deadline);
    }

    void receive_part(Link& link, std::span<std::uint8_t> part, std::optional<Clock::time_point> deadline) {
        const c10::DeviceGuard guard(device_);
        std::vector<at::Tensor> tensors{link.buffer.narrow(0, 0, static_cast<std::int64_t>(part.size()))};
        finish(*link.group->recv(tensors, 0, 0), deadline);
        on_host(part.data(), part.size()).copy_(tensors[0]);
    }

    // Waits on the host until the GPU has done it. c10d's wait() does not, and has no limit of time.
    void finish(c10d::Work& work, std::optional<Clock::time_point> deadline) const {
        constexpr int kTurns = 200;  // before it sleeps
        for (int turn = 0; !work.isCompleted(); ++turn) {
            if (is_aborted_) {
                throw std::runtime_error("the links were ended");
            }
            if (deadline && Clock::now() > *deadline) {
                throw std::runtime_error("it sends nothing, or takes nothing");
            }
            if (turn < kTurns) {
                std::this_thread::yield();
            } else {
                std::this_thread::sleep_for(std::chrono::microseconds(20));
            }
        }
        if (const std::exception_ptr error = work.exception()) {
            try {
                std::rethrow_exception(error);
            } catch (const std::exception& of_nccl) {
                throw std::runtime_error(nccl_error_text(of_nccl.what()));
            }
        }
        // A link that was ended is complete too, and has not brought its bytes.
        if (is_aborted_) {
            throw std::runtime_error("the links were ended");
        }
        work.wait();  // the stream of this thread comes after it
    }

    template <class F>
    void for_each_group(F f) noexcept {
        for (std::vector<Link>* links : {&outgoing_, &incoming_}) {
            for (Link& link : *links) {
                try {
                    if (link.group) {
                        f(*link.group);
                    }
                } catch (const std::exception&) {  // it is of no use any more
                    continue;
                }
            }
        }
    }

    std::shared_ptr<SharedWords> words_;
    NcclOptions options_;
    at::Device device_;
    std::vector<Link> outgoing_;  // by rank
    std::vector<Link> incoming_;  // by rank
    std::atomic<bool> is_aborted_{false};
    bool is_closed_ = false;
};

}  // namespace

NcclSupport nccl_support() {
    return {.is_built = true, .gpus = static_cast<std::uint32_t>(std::max<int>(c10::cuda::device_count(), 0))};
}

void prepare_nccl() {
    constexpr bool kHasOldNames = TORCH_VERSION_MAJOR == 2 && TORCH_VERSION_MINOR < 2;
    for (const char* name :
         {kHasOldNames ? "NCCL_ASYNC_ERROR_HANDLING" : "TORCH_NCCL_ASYNC_ERROR_HANDLING",
          "TORCH_NCCL_ENABLE_MONITORING"}) {
        ::setenv(name, "0", 1);  // NOLINT(concurrency-mt-unsafe): no other thread is there yet
    }
}

std::unique_ptr<Collective> connect_nccl(const std::shared_ptr<SharedWords>& words, const NcclOptions& options) {
    if (const auto refusal = nccl_refusal(nccl_support(), options.gpu)) {
        throw std::runtime_error(*refusal);
    }
    try {
        // The thread that connects has a part in it, since it may be given up.
        const auto made = std::make_shared<std::unique_ptr<NcclLinks>>();
        const bool is_connected = is_done_within(options.connect, [made, words, options] {
            auto links = std::make_unique<NcclLinks>(words, options);
            links->connect();
            *made = std::move(links);
        });
        if (!is_connected) {
            throw std::runtime_error("not all came in " + std::to_string(options.connect.count() / 1'000) + " s");
        }
        return cell::make_ordered_collective(
            std::move(*made), {.rank = options.rank, .size = options.size, .timeout = options.timeout}
        );
    } catch (const std::exception& error) {
        throw std::runtime_error("the ranks of the cell cannot connect: " + nccl_error_text(error.what()));
    }
}

}  // namespace assay::engine
