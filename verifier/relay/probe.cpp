// SPDX-License-Identifier: Apache-2.0
#include <verifier/relay/probe.hpp>

#include <exception>
#include <memory>
#include <utility>
#include <variant>

#include <boost/asio/co_spawn.hpp>

#include <verifier/relay/connection.hpp>
#include <verifier/relay/dial.hpp>
#include <verifier/relay/message.hpp>

namespace assay::relay {
namespace {

namespace asio = boost::asio;

asio::awaitable<std::string> ask(asio::io_context& io, Register wanted, std::chrono::milliseconds patience) {
    std::string trouble;
    std::shared_ptr<Connection> connection;
    for (const auto& endpoint : endpoints_of(wanted.relay, trouble)) {
        connection = std::make_shared<Connection>(asio::ip::tcp::socket(io), http::ClientAddress{});
        connection->expire_after(patience);
        const auto [error] = co_await connection->socket.async_connect(endpoint, kReturned);
        if (!error) {
            break;
        }
        trouble = unreachable(error);
        connection.reset();
    }
    if (!connection) {
        co_return trouble;
    }
    connection->expire_after(patience);
    co_await connection->write(encode_message(wanted));
    const auto line = co_await connection->read_line();
    connection->close();
    if (!line) {
        co_return kNoRelay;
    }
    const auto message = decode_message(*line);
    if (!message) {
        co_return std::string(kOtherSpeech) + to_string(message.error());
    }
    if (const auto* refused = std::get_if<Refused>(&*message)) {
        co_return advice_of(refused->reason);
    }
    co_return std::holds_alternative<Challenge>(*message) ? "" : kNoRelay;
}

}  // namespace

std::string probe(const std::string& relay, const AccountId& account, std::chrono::milliseconds patience) {
    asio::io_context io(1);
    std::string out;
    const Register wanted{.service = {.name = "doctor", .account = account}, .relay = relay};
    asio::co_spawn(io, ask(io, wanted, patience), [&out](const std::exception_ptr& error, std::string trouble) {
        if (error) {
            std::rethrow_exception(error);
        }
        out = std::move(trouble);
    });
    io.run();
    return out;
}

}  // namespace assay::relay
