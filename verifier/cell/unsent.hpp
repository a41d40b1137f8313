// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

namespace assay::cell {

/// Messages of a rank that are not sent yet, by receiver. A receiver that is lost takes none of them any more, and is
/// no reason not to send the others theirs.
class Unsent {
  public:
    explicit Unsent(std::uint32_t ranks) : all_(ranks) {}

    void add(std::uint32_t to) { ++all_[to].messages; }
    void note_sent(std::uint32_t to) { --all_[to].messages; }
    void note_lost(std::uint32_t to) { all_[to].is_lost = true; }

    bool is_none() const { return !first(); }
    /// Whether nothing is left that can still be sent.
    bool is_over() const {
        return !find([](const Receiver& to) { return to.messages != 0 && !to.is_lost; });
    }
    /// The first receiver that is lost and should have been sent something; nullopt if there is none.
    std::optional<std::uint32_t> lost() const {
        return find([](const Receiver& to) { return to.messages != 0 && to.is_lost; });
    }
    /// The first receiver for which something is left, lost or not; nullopt if there is none.
    std::optional<std::uint32_t> first() const {
        return find([](const Receiver& to) { return to.messages != 0; });
    }

  private:
    struct Receiver {
        std::uint64_t messages = 0;
        bool is_lost = false;
    };
    template <class Is>
    std::optional<std::uint32_t> find(Is is) const {
        const auto found = std::find_if(all_.begin(), all_.end(), is);
        return found == all_.end() ? std::nullopt : std::optional(static_cast<std::uint32_t>(found - all_.begin()));
    }

    std::vector<Receiver> all_;
};

}  // namespace assay::cell
