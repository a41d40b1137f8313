// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include <boost/asio.hpp>
#include <boost/asio/ssl.hpp>

/// Internal to the cell.
namespace assay::cell {

using TlsStream = boost::asio::ssl::stream<boost::asio::ip::tcp::socket>;

inline constexpr std::size_t kGreetedMax = 128;  ///< that have connected and not shown yet who they are

/// Those who have connected and have not shown yet who they are. If there are too many, the first one of the address
/// that has most of them gives way, so that a stranger keeps out nobody else.
class Greeted {
  public:
    void add(const std::shared_ptr<TlsStream>& stream) {
        std::erase_if(all_, [](const auto& greeted) { return !is_open(greeted.second.lock()); });
        if (all_.size() >= kGreetedMax) {
            boost::system::error_code error;
            first_of_most()->lowest_layer().close(error);
        }
        all_.emplace_back(address_of(*stream), stream);
    }

  private:
    using Address = boost::asio::ip::address;

    static bool is_open(const std::shared_ptr<TlsStream>& stream) {
        return stream != nullptr && stream->lowest_layer().is_open();
    }
    static Address address_of(const TlsStream& stream) {
        boost::system::error_code error;
        return stream.lowest_layer().remote_endpoint(error).address();
    }
    std::shared_ptr<TlsStream> first_of_most() const {
        std::map<Address, std::size_t> counts;
        for (const auto& [address, stream] : all_) {
            ++counts[address];
        }
        const auto most = std::max_element(counts.begin(), counts.end(), [](const auto& a, const auto& b) {
            return a.second < b.second;
        });
        const auto of_most = [&](const auto& greeted) { return greeted.first == most->first; };
        return std::find_if(all_.begin(), all_.end(), of_most)->second.lock();
    }

    std::vector<std::pair<Address, std::weak_ptr<TlsStream>>> all_;  // the oldest first
};

}  // namespace assay::cell
