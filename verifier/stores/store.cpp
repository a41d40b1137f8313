// SPDX-License-Identifier: Apache-2.0
#include <verifier/stores/store.hpp>

#include <charconv>
#include <string_view>
#include <system_error>
#include <type_traits>
#include <variant>

#include <verifier/relay/account_certificate.hpp>
#include <verifier/stores/kinds.hpp>

namespace assay::stores {
namespace {

[[noreturn]] void refuse_writing(const std::string& location) {
    throw StoreRefused(
        RefusalKind::kUnable,
        location + " is a server that is only read from: name a directory (dir:/PATH), s3://BUCKET or ipfs:// instead"
    );
}

std::string field(const http::HttpResponse& response, std::string_view name) {
    for (const auto& [key, value] : response.fields) {
        if (key == name) {
            return value;
        }
    }
    return "";
}

std::optional<std::uint64_t> to_number(std::string_view text) {
    std::uint64_t out = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
    const bool is_whole = error == std::errc() && end == text.data() + text.size();
    return is_whole ? std::optional(out) : std::nullopt;
}

/// ART-6
class ServerStore final : public Store {
  public:
    explicit ServerStore(const Location& at) : Store(encode_location(at)), at_(at) {}

    ReadEnd read(
        const ObjectName& object, std::uint64_t first, std::optional<std::uint64_t> last, const http::BodySink& sink,
        const http::HttpLimits& limits
    ) override {
        return read_url(call_for(object), first, last, sink, limits);
    }

    std::optional<std::uint64_t> size_of(const ObjectName& object, const http::HttpLimits& limits) override {
        return size_at_url(call_for(object), limits);
    }

  private:
    http::HttpCall call_for(const ObjectName& object) const {
        return server_call(at_, "/artifact/" + to_hex(object.artifact.view()) + (object.is_leaves ? "/leaves" : ""))
            .value();
    }

    Location at_;
};

}  // namespace

void Store::put(const ObjectName&, const std::filesystem::path&, const Progress&) { refuse_writing(location_); }
std::vector<StoredEntry> Store::list() { refuse_writing(location_); }
void Store::set_pinned(const Hash256&, bool) { refuse_writing(location_); }
void Store::remove(const Hash256&) { refuse_writing(location_); }

// A transfer that stalls ends after thirty seconds without a byte.
http::HttpLimits Store::limits() const {
    constexpr std::uint64_t kBytesPerS = 65'536;
    return {
        .timeout = std::chrono::seconds(60),
        .connect_timeout = std::chrono::seconds(5),
        .bytes_per_s = kBytesPerS,
        .idle_timeout = std::chrono::seconds(30),
        .stop = stop_};
}

std::unique_ptr<Store> make_server_store(const Location& location) { return std::make_unique<ServerStore>(location); }

std::optional<http::HttpCall> server_call(const Location& location, const std::string& target) {
    if (const auto* server = std::get_if<ServerLocation>(&location)) {
        return http::HttpCall{.url = server->url + target};
    }
    const auto* behind = std::get_if<RelayLocation>(&location);
    if (behind == nullptr) {
        return std::nullopt;
    }
    // ART-23: whoever answers has to have the account's word for its key.
    const auto admits = [account = behind->service.account](ByteView certificate) {
        return relay::is_of_account(certificate, account);
    };
    return http::HttpCall{
        .url = "https://" + relay::to_host(behind->service) + target,
        .tunnel = http::HttpTunnel{.relay = behind->relay, .admits = admits}};
}

std::unique_ptr<Store> open_store(
    const Location& location, const std::optional<Credentials>& credentials, bool public_only
) {
    return std::visit(
        [&](const auto& at) -> std::unique_ptr<Store> {
            using At = std::decay_t<decltype(at)>;
            if constexpr (std::is_same_v<At, ServerLocation> || std::is_same_v<At, RelayLocation>) {
                return make_server_store(at);
            } else if constexpr (std::is_same_v<At, S3Location>) {
                return make_s3_store(at, credentials);
            } else if constexpr (std::is_same_v<At, IpfsLocation>) {
                return make_ipfs_store(at);
            } else {
                if (public_only) {
                    throw StoreRefused(
                        RefusalKind::kUnable, encode_location(at) + ": a stranger names no directory of this machine"
                    );
                }
                return make_directory_store(at);
            }
        },
        location
    );
}

std::string path_of(const ObjectName& object) {
    return (object.is_leaves ? "leaves/" : "") + to_hex(object.artifact.view());
}

std::string pin_path_of(const Hash256& artifact) { return "pins/" + to_hex(artifact.view()); }

ReadEnd read_url(
    const http::HttpCall& call, std::uint64_t first, std::optional<std::uint64_t> last, const http::BodySink& sink,
    const http::HttpLimits& limits
) {
    const unsigned status = http::http_call_file(call, first, last, sink, limits).status;
    return status == 200 || status == 206 ? ReadEnd::kDone : ReadEnd::kMissing;
}

std::optional<std::uint64_t> size_at_url(const http::HttpCall& call, const http::HttpLimits& limits) {
    std::uint64_t received = 0;
    const auto first_only = [&](std::uint64_t, ByteView piece) {
        received += piece.size();
        return true;
    };
    const http::HttpResponse answer = http::http_call_file(call, 0, 0, first_only, limits);
    if (answer.status == 206) {
        const std::string range = field(answer, "content-range");
        return to_number(std::string_view(range).substr(range.find('/') + 1));
    }
    if (answer.status == 416) {
        return 0;  // it has no first byte
    }
    return answer.status == 200 ? std::optional(received) : std::nullopt;
}

}  // namespace assay::stores
