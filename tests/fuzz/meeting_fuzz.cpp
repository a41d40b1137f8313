// SPDX-License-Identifier: Apache-2.0
#include <chrono>
#include <string>

#include <core/crypto/keys.hpp>
#include <tests/fuzz/fuzz.hpp>
#include <verifier/cell/meeting.hpp>

/// What a lead is asked by anybody who reaches it, and what somebody who says that it leads answers.
namespace assay::fuzz {
namespace {

const std::string kSecret = "sixteen letters!";
const Hash256 kTask{{7}};
constexpr const char* kTargets[] = {"/seat", "/leave", "/get", "/set", "/other"};

crypto::SecretKey key_of(std::uint8_t number) {
    return crypto::SecretKey::from_bytes(Bytes(32, static_cast<std::uint8_t>(number + 1))).value();
}

/// A meeting whose session has two members.
struct Met {
    cell::Meeting meeting;
    std::uint64_t session;

    Met(std::vector<std::string> names, cell::OpenSeal open)
        : meeting(names, std::move(open)), session(meeting.open(names, std::chrono::seconds(1))) {}

    unsigned ask(const std::string& target, const std::string& body) {
        const auto answer = meeting.answer(target, {.method = "POST", .target = target, .body = body});
        if (answer.status == 200 && target == "/seat") {
            ASSERT(cell::decode_seat(answer.body).has_value());
        }
        return answer.status;
    }
};

/// `@` stands for the session's number, which a meeting takes from the clock.
std::string with_session(std::string_view text, std::uint64_t session) {
    std::string out;
    for (const char c : text) {
        out += c == '@' ? std::to_string(session) : std::string(1, c);
    }
    return out;
}

void check_seat(const std::string& answer) {
    if (const auto seat = cell::decode_seat(answer)) {
        ASSERT(seat->names.size() < 64 && seat->timeout_ms <= 86'400'000);
        ASSERT(seat->session == 0 || (seat->rank > 0 && seat->rank < seat->size()));
    }
}

}  // namespace

void run(ByteView input) {
    if (input.empty()) {
        return;
    }
    const std::string target = kTargets[input[0] % std::size(kTargets)];
    const std::string text(as_text(input.subspan(1)));
    check_seat(text);
    static const crypto::SecretKey kOne = key_of(0);
    static const crypto::SecretKey kOther = key_of(1);
    static const std::string kName = to_hex(kOne.account().view());
    Met of_cell({"left", "right"}, cell::by_secret(kSecret).second);
    Met of_group(
        {kName, to_hex(kOther.account().view())}, cell::of_accounts({kOne.account(), kOther.account()}, kTask)
    );
    // A stranger's bytes, which end in no signature and no MAC.
    ASSERT(of_cell.ask(target, text) == 403 && of_group.ask(target, text) == 403);
    // The same of who may ask.
    const std::string asked = with_session(text, of_cell.session);
    of_cell.ask(target, cell::seal(kSecret, target, asked));
    const std::string signed_text = with_session(text, of_group.session);
    const unsigned status = of_group.ask(target, cell::by_account(kOne, kTask)(target, signed_text));
    if (target == "/set" && status == 200) {
        const auto words = of_group.meeting.words(std::chrono::milliseconds(0));
        ASSERT(words->get("tls/1").size() <= 65'536);  // its own rank's, or nothing was set
    }
}

}  // namespace assay::fuzz
