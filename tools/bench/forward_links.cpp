// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <deque>
#include <iostream>
#include <map>
#include <stdexcept>
#include <system_error>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <linux/if.h>
#include <linux/if_tun.h>
#include <poll.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <core/base/bytes.hpp>
#include <tools/bench/chain_load.hpp>
#include <tools/bench/links.hpp>

namespace assay::bench {
namespace {

using ForwardClock = std::chrono::steady_clock;
using Nanoseconds = std::chrono::nanoseconds;
using Address = std::array<std::uint8_t, 6>;

// What the device has in front of a frame: virtio_net_hdr, whose header is no C++.
struct FrameHeader {
    std::uint8_t flags;
    std::uint8_t gso_type;
    std::uint16_t hdr_len;
    std::uint16_t gso_size;
    std::uint16_t csum_start;
    std::uint16_t csum_offset;
};
static_assert(sizeof(FrameHeader) == 10);
constexpr std::size_t kFrameMax = 65'536 + 256;
constexpr int kBurst = 64;  // frames that are read of one device before others
// A wait takes more of the processor than a frame does, so frames that are due together are written after one. A thread
// without priority would be woken as late.
constexpr Nanoseconds kLeastWait = std::chrono::microseconds(50);

volatile std::sig_atomic_t is_forwarding = 1;
void stop_forwarding(int /*signal*/) { is_forwarding = 0; }

std::system_error failure(const std::string& what) { return {errno, std::generic_category(), what}; }

// Bytes of an Ethernet frame and its segments, if the sender's kernel leaves it to the device to cut it into those.
std::size_t bytes_on_wire(const Bytes& frame) {
    FrameHeader header{};
    std::memcpy(&header, frame.data(), sizeof header);
    const std::size_t size = frame.size() - sizeof header;
    if (header.gso_type == 0 || header.gso_size == 0 || size <= header.hdr_len) {
        return size;
    }
    const std::size_t segments = (size - header.hdr_len + header.gso_size - 1) / header.gso_size;
    return size + (segments - 1) * header.hdr_len;
}

class Tap {
  public:
    explicit Tap(const std::string& name) : file_(::open("/dev/net/tun", O_RDWR | O_NONBLOCK | O_CLOEXEC)) {
        if (file_ < 0) {
            throw failure("/dev/net/tun");
        }
        ifreq request{};
        request.ifr_flags = IFF_TAP | IFF_NO_PI | IFF_VNET_HDR;
        std::strncpy(request.ifr_name, name.c_str(), IFNAMSIZ - 1);
        if (::ioctl(file_, TUNSETIFF, &request) != 0 || ::ioctl(file_, TUNSETOFFLOAD, TUN_F_CSUM | TUN_F_TSO4) != 0) {
            const auto error = failure("the device " + name);
            ::close(file_);
            throw error;
        }
    }
    ~Tap() { ::close(file_); }
    Tap(const Tap&) = delete;
    Tap& operator=(const Tap&) = delete;
    int file() const { return file_; }

  private:
    int file_;
};

struct Late {
    ForwardClock::time_point due;
    Bytes frame;
};

// What is on its way to one device.
struct Lane {
    std::unique_ptr<Tap> tap;
    std::deque<Late> late{};
    ForwardClock::time_point free{};  // when the last frame is across
};

class Forwarder {
  public:
    explicit Forwarder(const ForwardOptions& options)
        : delay_(static_cast<std::int64_t>(options.delay_ms * 1e6)), ns_per_byte_(8e3 / options.mbit) {
        for (std::uint32_t i = 0; i < options.count; ++i) {
            lanes_.push_back({.tap = std::make_unique<Tap>(options.prefix + std::to_string(i))});
            polled_.push_back({.fd = lanes_.back().tap->file(), .events = POLLIN, .revents = 0});
        }
    }

    void run() {
        while (is_forwarding != 0) {
            const Nanoseconds wait = until_next();
            const timespec time{.tv_sec = wait.count() / 1'000'000'000, .tv_nsec = wait.count() % 1'000'000'000};
            if (::ppoll(polled_.data(), polled_.size(), &time, nullptr) < 0 && errno != EINTR) {
                throw failure("ppoll");
            }
            for (std::size_t from = 0; from < lanes_.size(); ++from) {
                if ((polled_[from].revents & POLLIN) != 0) {
                    read(from);
                }
            }
            deliver();
        }
    }
    nlohmann::json to_json() const {
        return {
            {"frames", frames_},
            {"bytes", bytes_},
            {"refused", refused_},
            {"latest_us", latest_.count() / 1'000},
            {"cpu_s", own_cpu_seconds() - cpu_before_s_}};
    }

  private:
    Nanoseconds until_next() const {
        Nanoseconds out = std::chrono::milliseconds(200);
        const auto now = ForwardClock::now();
        for (const Lane& lane : lanes_) {
            if (!lane.late.empty()) {
                out = std::min(out, std::max(kLeastWait, Nanoseconds(lane.late.front().due - now)));
            }
        }
        return out;
    }

    void read(std::size_t from) {
        for (int i = 0; i < kBurst; ++i) {
            const ssize_t size = ::read(lanes_[from].tap->file(), buffer_.data(), buffer_.size());
            if (size < static_cast<ssize_t>(sizeof(FrameHeader) + 14)) {
                return;
            }
            const std::uint8_t* const ethernet = buffer_.data() + sizeof(FrameHeader);
            Address to{};
            Address sender{};
            std::copy_n(ethernet, to.size(), to.begin());
            std::copy_n(ethernet + to.size(), sender.size(), sender.begin());
            places_[sender] = from;
            const auto known = places_.find(to);
            for (std::size_t lane = 0; lane < lanes_.size(); ++lane) {
                if (known != places_.end() ? lane == known->second : lane != from) {
                    send_later(lanes_[lane], Bytes(buffer_.begin(), buffer_.begin() + size));
                }
            }
        }
    }

    void send_later(Lane& lane, Bytes frame) {
        const std::size_t size = bytes_on_wire(frame);
        const Nanoseconds crossing(static_cast<std::int64_t>(static_cast<double>(size) * ns_per_byte_));
        lane.free = std::max(ForwardClock::now() + delay_, lane.free) + crossing;
        lane.late.push_back({lane.free, std::move(frame)});
        ++frames_;
        bytes_ += size;
    }

    void deliver() {
        for (Lane& lane : lanes_) {
            for (; !lane.late.empty() && lane.late.front().due <= ForwardClock::now(); lane.late.pop_front()) {
                const Late& next = lane.late.front();
                latest_ = std::max(latest_, Nanoseconds(ForwardClock::now() - next.due));
                refused_ += ::write(lane.tap->file(), next.frame.data(), next.frame.size()) < 0 ? 1U : 0U;
            }
        }
    }

    Nanoseconds delay_;
    double ns_per_byte_;
    std::vector<Lane> lanes_;
    std::vector<pollfd> polled_;
    std::map<Address, std::size_t> places_;
    Bytes buffer_ = Bytes(kFrameMax);
    std::uint64_t frames_ = 0;
    std::uint64_t bytes_ = 0;
    std::uint64_t refused_ = 0;                // by the device: it is down, or its queue is full
    Nanoseconds latest_{0};                    // by which a frame came later than it should
    double cpu_before_s_ = own_cpu_seconds();  // this program loads libraries that it does not forward with
};

}  // namespace

nlohmann::json run_forward_links(const ForwardOptions& options) {
    std::signal(SIGTERM, stop_forwarding);
    ::prctl(PR_SET_PDEATHSIG, SIGTERM);  // nobody else ends it when the script that started it was killed
    Forwarder forwarder(options);
    const sched_param first{.sched_priority = 1};
    ::sched_setscheduler(0, SCHED_FIFO, &first);  // the ranks compute on the same cores; not vital
    std::cout << "ready" << std::endl;
    forwarder.run();
    return forwarder.to_json();
}

}  // namespace assay::bench
