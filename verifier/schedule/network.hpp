// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

/// Predicts how long machines with given links would take for a training step, and looks for a good way to divide it
/// among them. Pure, and advice only: nothing here changes a bit of a result.
namespace assay::schedule {

/// The connection of two machines, the same in both directions.
struct Link {
    double delay_s = 0.0;      ///< one way
    double bytes_per_s = 1.0;  ///< more than 0
    /// The time in which `bytes` cross.
    double seconds(double bytes) const { return delay_s + bytes / bytes_per_s; }
    bool operator==(const Link&) const = default;
};

/// A TCP connection over a link, as Linux has it by default: it sends a window of bytes in a round trip, which is ten
/// packets at first, twice as much after each round trip that was full, and less again after it was idle.
class Connection {
  public:
    /// A message of `bytes` is given to the connection at `now`, which never decreases. Returns the seconds until the
    /// last of it may leave.
    double send(double bytes, const Link& link, double now);

  private:
    double window_ = kFirstWindow;
    double used_ = 0.0;   // of it, in the round trip that has begun last
    double begun_ = 0.0;  // when

    static constexpr double kFirstWindow = 10.0 * 1448.0;
};

/// The links between `size` machines.
class Network {
  public:
    /// All links are `link` at first.
    Network(std::uint32_t size, const Link& link);

    std::uint32_t size() const { return size_; }
    /// `a` and `b` are below size().
    void set(std::uint32_t a, std::uint32_t b, const Link& link);
    const Link& between(std::uint32_t a, std::uint32_t b) const { return links_[a * size_ + b]; }

    /// All links are behind one switch or uplink that carries so many bytes together; more than 0.
    void set_shared(double bytes_per_s) { shared_bytes_per_s_ = bytes_per_s; }
    /// What all links carry together; infinity if nothing is shared.
    double shared_bytes_per_s() const { return shared_bytes_per_s_; }

  private:
    std::uint32_t size_;
    std::vector<Link> links_;
    double shared_bytes_per_s_ = std::numeric_limits<double>::infinity();
};

}  // namespace assay::schedule
