// SPDX-License-Identifier: Apache-2.0
#include <tests/fuzz/fuzz.hpp>
#include <verifier/relay/account_certificate.hpp>
#include <verifier/relay/message.hpp>

namespace assay::fuzz {

/// A line, the name of a host that a client asks for, and a certificate.
void run(ByteView input) {
    const std::string text(as_text(input));
    static_cast<void>(relay::is_relay_name(text));
    if (const auto service = relay::decode_host(text)) {
        ASSERT(relay::to_host(*service) == text);
    }
    ASSERT(!relay::is_of_account(input, AccountId{}));
    const auto message = relay::decode_message(text);
    if (!message) {
        ASSERT(*relay::to_string(message.error()) != '\0');
        return;
    }
    const std::string line = relay::encode_message(*message);
    ASSERT(line.size() <= relay::kLineMax);
    ASSERT(line == text + "\n");
}

}  // namespace assay::fuzz
