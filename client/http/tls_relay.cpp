// SPDX-License-Identifier: Apache-2.0
#include <client/http/tls_relay.hpp>

#include <array>
#include <chrono>
#include <string>
#include <utility>

#include <boost/asio/buffer.hpp>
#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/write.hpp>

#include <netinet/in.h>
#include <sys/socket.h>

#include <client/http/http.hpp>

namespace assay::http {

namespace {

namespace asio = boost::asio;
using ErrorCode = boost::system::error_code;
using Stream = asio::generic::stream_protocol::socket;

constexpr std::size_t kPieceBytes = 16'384;         // what one record of TLS holds
constexpr std::chrono::milliseconds kGoodbye{500};  // for the client's part of a close

class Relay final : public TlsRelay, public std::enable_shared_from_this<Relay> {
  public:
    Relay(
        asio::io_context& context, std::shared_ptr<asio::ssl::context> tls, const RelayedSockets& sockets,
        std::function<void(TlsRelay&)> on_end
    )
        : tls_(std::move(tls)),
          outer_(Stream(context, {sockets.family, IPPROTO_TCP}, sockets.client), *tls_),
          inner_(context, {AF_UNIX, 0}, sockets.session),
          goodbye_(context),
          on_end_(std::move(on_end)) {}

    void start() {
        outer_.async_handshake(asio::ssl::stream_base::server, [self = shared_from_this()](const ErrorCode& error) {
            if (error) {
                self->close();
                return;
            }
            self->is_ready_ = true;
            self->pump_in();
        });
        pump_out();
    }

    void close() override {
        if (is_closed_) {
            return;
        }
        const auto self = shared_from_this();
        is_closed_ = true;
        ErrorCode ignored;
        goodbye_.cancel();
        outer_.next_layer().close(ignored);
        inner_.close(ignored);
        on_end_(*this);
    }

  private:
    /// From the client to the session.
    void pump_in() {
        outer_.async_read_some(
            asio::buffer(from_client_),
            [self = shared_from_this()](const ErrorCode& error, std::size_t size) {
                if (error) {
                    ErrorCode ignored;
                    self->inner_.shutdown(Stream::shutdown_send, ignored);
                    self->has_client_ended_ = true;
                    self->end_if_over();
                    return;
                }
                asio::async_write(
                    self->inner_, asio::buffer(self->from_client_.data(), size),
                    [self](const ErrorCode& failed, std::size_t) {
                        if (failed) {
                            self->close();  // the session is gone
                        } else {
                            self->pump_in();
                        }
                    }
                );
            }
        );
    }

    /// From the session to the client. Under way from the start, since only this tells that the session has ended.
    void pump_out() {
        inner_.async_read_some(
            asio::buffer(from_session_),
            [self = shared_from_this()](const ErrorCode& error, std::size_t size) {
                if (!self->is_ready_) {
                    self->close();  // the session's time is up, and the handshake is not done
                } else if (error) {
                    self->say_goodbye();
                } else {
                    self->write(size);
                }
            }
        );
    }

    void write(std::size_t size) {
        asio::async_write(
            outer_, asio::buffer(from_session_.data(), size),
            [self = shared_from_this()](const ErrorCode& error, std::size_t) {
                if (error) {
                    self->close();
                } else {
                    self->pump_out();
                }
            }
        );
    }

    /// The session sends no more. The client may not answer this.
    void say_goodbye() {
        has_session_ended_ = true;
        goodbye_.expires_after(kGoodbye);
        goodbye_.async_wait([self = shared_from_this()](const ErrorCode& error) {
            if (!error) {
                self->close();
            }
        });
        outer_.async_shutdown([self = shared_from_this()](const ErrorCode&) { self->close(); });
    }

    void end_if_over() {
        if (has_client_ended_ && has_session_ended_) {
            close();
        }
    }

    std::shared_ptr<asio::ssl::context> tls_;
    asio::ssl::stream<Stream> outer_;
    Stream inner_;
    asio::steady_timer goodbye_;
    std::function<void(TlsRelay&)> on_end_;
    std::array<char, kPieceBytes> from_client_{};
    std::array<char, kPieceBytes> from_session_{};
    bool is_ready_ = false;  // the handshake is done
    bool has_client_ended_ = false;
    bool has_session_ended_ = false;
    bool is_closed_ = false;
};

[[noreturn]] void fail(const std::filesystem::path& file, const char* what, const ErrorCode& error) {
    throw NetError("cannot use " + file.string() + " as " + what + ": " + error.message());
}

}  // namespace

asio::ssl::context make_tls_context(const std::filesystem::path& certificate, const std::filesystem::path& key) {
    asio::ssl::context out(asio::ssl::context::tls_server);
    using Options = asio::ssl::context;
    out.set_options(
        Options::default_workarounds | Options::no_sslv2 | Options::no_sslv3 | Options::no_tlsv1 | Options::no_tlsv1_1 |
        Options::no_compression
    );
    ErrorCode error;
    out.use_certificate_chain_file(certificate.string(), error);
    if (error) {
        fail(certificate, "a certificate chain in PEM", error);
    }
    out.use_private_key_file(key.string(), asio::ssl::context::pem, error);
    if (error) {
        fail(key, ("the key of " + certificate.string()).c_str(), error);
    }
    return out;
}

std::shared_ptr<TlsRelay> start_tls_relay(
    asio::io_context& context, std::shared_ptr<asio::ssl::context> tls, RelayedSockets sockets,
    std::function<void(TlsRelay&)> on_end
) {
    auto out = std::make_shared<Relay>(context, std::move(tls), sockets, std::move(on_end));
    out->start();
    return out;
}

}  // namespace assay::http
