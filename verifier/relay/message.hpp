// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include <core/base/bytes.hpp>
#include <core/base/result.hpp>

/// What a worker and a relay say to each other (ART-23): lines of ASCII over TCP. A relay forwards connections to
/// workers that have no address of their own, and can read nothing of what it forwards.
namespace assay::relay {

/// Bytes of a line at most, its end included.
inline constexpr std::size_t kLineMax = 256;

/// One server of an account: a name of 1 to 16 of a-z, 0-9 and "-", so that several workers of one account can be
/// reached at one relay.
struct Service {
    std::string name;
    AccountId account;
    auto operator<=>(const Service&) const = default;
};
/// "NAME.ADDRESS", as a host's name in HTTP and TLS. The address is ENC-3's.
std::string to_host(const Service& service);
std::optional<Service> decode_host(std::string_view text);
bool is_service_name(std::string_view name);
/// Whether the text is HOST:PORT, the host in lower case.
bool is_relay_name(std::string_view text);

/// Worker: it wants to be reached here as `service`. `relay` is the relay's name as the worker's locations have it.
struct Register {
    Service service;
    std::string relay;
    bool operator==(const Register&) const = default;
};
/// Relay: what has to be signed.
struct Challenge {
    Hash256 nonce;
    bool operator==(const Challenge&) const = default;
};
/// Worker: the account's signature of register_digest().
struct Proof {
    Signature signature;
    bool operator==(const Proof&) const = default;
};
/// Relay: the worker can be reached from now on.
struct Registered {
    bool operator==(const Registered&) const = default;
};

enum class RefusalReason : std::uint8_t {
    kOtherName = 1,   ///< the relay has another name, which is that of its locations
    kNotAllowed = 2,  ///< the relay is for certain accounts, and this is none of them
    kBadProof = 3,    ///< the signature is not the account's
    kFull = 4,        ///< the relay, or the worker's address, has as many workers as it may
    kReplaced = 5,    ///< the account has registered the same service again, later
};
const char* to_string(RefusalReason reason) noexcept;
/// What to do about it, for the worker's operator.
const char* advice_of(RefusalReason reason) noexcept;

/// Relay: the worker is not, or no longer, reached here. The relay then closes the connection.
struct Refused {
    RefusalReason reason = RefusalReason::kOtherName;
    bool operator==(const Refused&) const = default;
};
/// Relay: somebody wants to connect. The worker makes another connection to the relay and says Accept there.
struct Open {
    Hash256 ticket;
    bool operator==(const Open&) const = default;
};
/// Worker, first on a connection of its own: what follows is the connection that the ticket stands for.
struct Accept {
    Hash256 ticket;
    bool operator==(const Accept&) const = default;
};
struct Ping {  ///< relay
    bool operator==(const Ping&) const = default;
};
struct Pong {  ///< worker
    bool operator==(const Pong&) const = default;
};

using Message = std::variant<Register, Challenge, Proof, Registered, Refused, Open, Accept, Ping, Pong>;

enum class [[nodiscard]] MessageError : std::uint8_t{
    kTooLong = 1,  ///< more than kLineMax bytes
    kKind = 2,     ///< it begins with no known word
    kFields = 3,   ///< what follows the word is not what belongs to it
};
const char* to_string(MessageError error) noexcept;

/// The line of a message, with the "\n" at its end.
std::string encode_message(const Message& message);
/// Decodes a line without its end. There is one line for each message.
Result<Message, MessageError> decode_message(std::string_view line);

/// What an account signs to be reached at a relay: "assay/relay/register" over the relay's nonce, which is used once,
/// and the names of relay and service, so that it is of no use at another relay.
Hash256 register_digest(const Hash256& nonce, const Register& wanted);

}  // namespace assay::relay
