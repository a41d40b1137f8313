// SPDX-License-Identifier: Apache-2.0
#include <verifier/relay/message.hpp>

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include <core/crypto/address.hpp>
#include <core/crypto/hash.hpp>

namespace assay::relay {
namespace {

constexpr std::size_t kServiceNameMax = 16;
constexpr std::size_t kRelayNameMax = 128;
constexpr unsigned long kPortMax = 65'535;

constexpr std::array kReasons{
    std::pair{RefusalReason::kOtherName, "other-name"}, std::pair{RefusalReason::kNotAllowed, "not-allowed"},
    std::pair{RefusalReason::kBadProof, "bad-proof"},   std::pair{RefusalReason::kFull, "full"},
    std::pair{RefusalReason::kReplaced, "replaced"},
};

bool is_lower(char c) { return ('a' <= c && c <= 'z') || ('0' <= c && c <= '9'); }

bool is_digit(char c) { return '0' <= c && c <= '9'; }

/// Words separated by one space each.
std::vector<std::string_view> split_words(std::string_view line) {
    std::vector<std::string_view> out;
    for (;;) {
        const std::size_t end = line.find(' ');
        out.push_back(line.substr(0, end));
        if (end == std::string_view::npos) {
            return out;
        }
        line = line.substr(end + 1);
    }
}

/// Only in lower case, so that there is one spelling.
template <class Fixed>
std::optional<Fixed> hex_of(std::string_view text) {
    const auto out = fixed_from_hex<Fixed>(text);
    return out && to_hex(out->view()) == text ? out : std::nullopt;
}

template <class Kind, class Fixed>
std::optional<Message> with(const std::optional<Fixed>& value) {
    return value ? std::optional<Message>(Kind{*value}) : std::nullopt;
}

std::optional<Message> decode_field(std::string_view kind, std::string_view field) {
    if (kind == "challenge") {
        return with<Challenge>(hex_of<Hash256>(field));
    }
    if (kind == "proof") {
        return with<Proof>(hex_of<Signature>(field));
    }
    if (kind == "open") {
        return with<Open>(hex_of<Hash256>(field));
    }
    if (kind == "accept") {
        return with<Accept>(hex_of<Hash256>(field));
    }
    const auto found = std::find_if(kReasons.begin(), kReasons.end(), [&](const auto& r) { return r.second == field; });
    return found == kReasons.end() ? std::nullopt : std::optional<Message>(Refused{found->first});
}

struct Encoder {
    std::string operator()(const Register& m) const { return "register " + to_host(m.service) + " " + m.relay; }
    std::string operator()(const Challenge& m) const { return "challenge " + to_hex(m.nonce.view()); }
    std::string operator()(const Proof& m) const { return "proof " + to_hex(m.signature.view()); }
    std::string operator()(const Registered&) const { return "registered"; }
    std::string operator()(const Refused& m) const { return std::string("refused ") + to_string(m.reason); }
    std::string operator()(const Open& m) const { return "open " + to_hex(m.ticket.view()); }
    std::string operator()(const Accept& m) const { return "accept " + to_hex(m.ticket.view()); }
    std::string operator()(const Ping&) const { return "ping"; }
    std::string operator()(const Pong&) const { return "pong"; }
};

}  // namespace

bool is_service_name(std::string_view name) {
    return !name.empty() && name.size() <= kServiceNameMax &&
           std::all_of(name.begin(), name.end(), [](char c) { return is_lower(c) || c == '-'; });
}

bool is_relay_name(std::string_view text) {
    const std::size_t colon = text.rfind(':');
    if (colon == std::string_view::npos || text.size() > kRelayNameMax) {
        return false;
    }
    std::string_view host = text.substr(0, colon);
    const std::string_view port = text.substr(colon + 1);
    const bool is_port = !port.empty() && port.size() <= 5 && port.front() != '0' &&
                         std::all_of(port.begin(), port.end(), is_digit) && std::stoul(std::string(port)) <= kPortMax;
    if (host.starts_with('[') && host.ends_with(']') && host.size() > 2) {
        host = host.substr(1, host.size() - 2);
        return is_port && std::all_of(host.begin(), host.end(), [](char c) {
                   return is_digit(c) || ('a' <= c && c <= 'f') || c == ':' || c == '.';
               });
    }
    return is_port && !host.empty() && is_lower(host.front()) &&
           std::all_of(host.begin(), host.end(), [](char c) { return is_lower(c) || c == '-' || c == '.'; });
}

std::string to_host(const Service& service) { return service.name + "." + crypto::to_address(service.account); }

std::optional<Service> decode_host(std::string_view text) {
    const std::size_t dot = text.find('.');
    if (dot == std::string_view::npos || !is_service_name(text.substr(0, dot))) {
        return std::nullopt;
    }
    const auto account = crypto::decode_address(text.substr(dot + 1));
    if (!account || crypto::to_address(*account) != text.substr(dot + 1)) {  // which may be in upper case
        return std::nullopt;
    }
    return Service{.name = std::string(text.substr(0, dot)), .account = *account};
}

const char* to_string(RefusalReason reason) noexcept {
    const auto* const found =
        std::find_if(kReasons.begin(), kReasons.end(), [reason](const auto& r) { return r.first == reason; });
    return found == kReasons.end() ? "" : found->second;
}

const char* advice_of(RefusalReason reason) noexcept {
    switch (reason) {
        case RefusalReason::kOtherName:
            return "it has another name: give --relay as its operator announces it";
        case RefusalReason::kNotAllowed:
            return "it does not serve this account: ask its operator to --allow it, or name another relay";
        case RefusalReason::kBadProof:
            return "it says that the signature is not the account's: it is broken or lies, so name another relay";
        case RefusalReason::kFull:
            return "it has as many workers as it may, in all or from this address: name another relay besides";
        case RefusalReason::kReplaced:
            return "another worker with this key and in this role has registered there: stop one of the two";
    }
    return "";
}

const char* to_string(MessageError error) noexcept {
    switch (error) {
        case MessageError::kTooLong:
            return "a line of a relay has at most 256 bytes";
        case MessageError::kKind:
            return "it begins with none of the words of this protocol";
        case MessageError::kFields:
            return "what follows the first word is not what belongs to it";
    }
    return "";
}

std::string encode_message(const Message& message) { return std::visit(Encoder{}, message) + "\n"; }

Result<Message, MessageError> decode_message(std::string_view line) {
    if (line.size() >= kLineMax) {
        return Unexpected{MessageError::kTooLong};
    }
    const std::vector<std::string_view> words = split_words(line);
    const std::string_view kind = words.front();
    const std::array<std::pair<std::string_view, Message>, 3> bare{
        std::pair{"registered", Message(Registered{})}, std::pair{"ping", Message(Ping{})},
        std::pair{"pong", Message(Pong{})}};
    for (const auto& [word, message] : bare) {
        if (kind == word) {
            return words.size() == 1 ? Result<Message, MessageError>(message) : Unexpected{MessageError::kFields};
        }
    }
    if (kind == "register") {
        const auto service = words.size() == 3 ? decode_host(words[1]) : std::nullopt;
        if (!service || !is_relay_name(words[2])) {
            return Unexpected{MessageError::kFields};
        }
        return Message(Register{.service = *service, .relay = std::string(words[2])});
    }
    constexpr std::array<std::string_view, 5> kWithField{"challenge", "proof", "refused", "open", "accept"};
    if (std::find(kWithField.begin(), kWithField.end(), kind) == kWithField.end()) {
        return Unexpected{MessageError::kKind};
    }
    const auto decoded = words.size() == 2 ? decode_field(kind, words[1]) : std::nullopt;
    return decoded ? Result<Message, MessageError>(*decoded) : Unexpected{MessageError::kFields};
}

Hash256 register_digest(const Hash256& nonce, const Register& wanted) {
    static const crypto::TaggedHash kTag("assay/relay/register");
    const std::string names = to_host(wanted.service) + " " + wanted.relay;
    return kTag(nonce.view(), as_bytes(names));
}

}  // namespace assay::relay
