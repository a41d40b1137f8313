// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>

#include <client/http/http.hpp>

/// Internal to the relay.
namespace assay::relay {

/// Counts by client address, without entries for zero.
class AddressCounts {
  public:
    std::uint32_t of(const http::ClientAddress& address) const {
        const auto found = counts_.find(address);
        return found == counts_.end() ? 0 : found->second;
    }
    void add(const http::ClientAddress& address) { ++counts_[address]; }
    void remove(const http::ClientAddress& address) {
        if (--counts_[address] == 0) {
            counts_.erase(address);
        }
    }

  private:
    std::map<http::ClientAddress, std::uint32_t> counts_;
};

/// Something that is counted for as long as it lives.
class Counted {
  public:
    Counted(AddressCounts& counts, const http::ClientAddress& address) : counts_(counts), address_(address) {
        counts_.add(address_);
    }
    ~Counted() { counts_.remove(address_); }
    Counted(const Counted&) = delete;
    Counted& operator=(const Counted&) = delete;

  private:
    AddressCounts& counts_;
    const http::ClientAddress address_;
};

}  // namespace assay::relay
