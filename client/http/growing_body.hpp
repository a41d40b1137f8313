// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include <boost/asio/buffer.hpp>
#include <boost/beast/http/message.hpp>
#include <boost/optional/optional.hpp>

namespace assay::http {

/// A body that takes no memory for what a client merely announces.
struct GrowingBody {
    using value_type = std::string;

    class reader {  // NOLINT(readability-identifier-naming): the name that Beast asks for
      public:
        template <bool kIsRequest, class Fields>
        reader(boost::beast::http::header<kIsRequest, Fields>&, value_type& body) : body_(body) {}
        void init(const boost::optional<std::uint64_t>&, boost::system::error_code& error) { error = {}; }
        template <class Buffers>
        std::size_t put(const Buffers& buffers, boost::system::error_code& error) {
            error = {};
            std::size_t count = 0;
            for (auto it = boost::asio::buffer_sequence_begin(buffers); it != boost::asio::buffer_sequence_end(buffers);
                 ++it) {
                const boost::asio::const_buffer piece = *it;
                body_.append(static_cast<const char*>(piece.data()), piece.size());
                count += piece.size();
            }
            return count;
        }
        void finish(boost::system::error_code& error) { error = {}; }

      private:
        value_type& body_;
    };
};

}  // namespace assay::http
