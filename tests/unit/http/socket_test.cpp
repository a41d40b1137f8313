// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <array>
#include <chrono>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <sys/socket.h>

#include <client/http/socket.hpp>

using namespace assay::http;

namespace {

/// Two ends of a connection that keeps what each send wrote apart.
struct Packets {
    Packets() {
        std::array<int, 2> fds{};
        REQUIRE(::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds.data()) == 0);
        near = std::make_unique<Socket>(fds[0]);
        far = std::make_unique<Socket>(fds[1]);
        far->expires_after(std::chrono::seconds(5));
    }
    std::string receive() const {
        std::array<char, 100> bytes{};
        ErrorCode error;
        const std::size_t count = far->read_some(boost::asio::buffer(bytes), error);
        CHECK_FALSE(error);
        return {bytes.data(), count};
    }
    std::unique_ptr<Socket> near;
    std::unique_ptr<Socket> far;
};

}  // namespace

TEST_CASE("a message in pieces goes out in one send") {
    const Packets packets;
    const std::array<boost::asio::const_buffer, 3> pieces{
        boost::asio::buffer(std::string_view("GET")), {}, boost::asio::buffer(std::string_view(" / HTTP/1.1"))};
    CHECK(packets.near->write_some(pieces) == 14);
    CHECK(packets.receive() == "GET / HTTP/1.1");
}

TEST_CASE("more pieces than one send takes are left to the next") {
    const Packets packets;
    const std::vector<boost::asio::const_buffer> pieces(20, boost::asio::buffer(std::string_view("x")));
    CHECK(packets.near->write_some(pieces) == 16);
    CHECK(packets.receive() == std::string(16, 'x'));
}

TEST_CASE("a message of no bytes sends nothing") {
    const Packets packets;
    CHECK(packets.near->write_some(std::array<boost::asio::const_buffer, 2>{}) == 0);
    CHECK(packets.near->write_some(boost::asio::buffer(std::string_view("next"))) == 4);
    CHECK(packets.receive() == "next");
}
