// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <utility>

#include <client/referee/answers.hpp>
#include <client/referee/call.hpp>
#include <client/referee/json.hpp>
#include <client/referee/wasm/signatures.hpp>
#include <core/base/assert.hpp>
#include <core/canonical/executor.hpp>
#include <core/crypto/ed25519.hpp>

/// The module's interface: functions of numbers over its memory, which referee.js calls. The page writes a question
/// into memory that it allocated; the answer stays valid until the next call.

namespace assay {

/// In a page there is nobody to tell: the trap ends the call, and referee.js says so.
void assertion_failed(const char* /*expression*/, const char* /*file*/, int /*line*/) noexcept { __builtin_trap(); }

namespace referee {
namespace {

std::string answer;
std::vector<PendingSignature> pending;

/// The answer with the signatures on which it depends.
std::string with_signatures(std::string text) {
    const auto signatures = take_signatures();
    if (signatures.empty()) {
        return text;
    }
    JsonWriter out;
    out.begin_array("signatures");
    for (const PendingSignature& each : signatures) {
        out.begin_element().hex("key", each.public_key).hex("message", each.message);
        out.hex("signature", each.signature).end_object();
    }
    out.end_array();
    text.back() = ',';
    return text + out.finish().substr(1);
}

}  // namespace

bool note_signature(ByteView public_key, ByteView message, ByteView signature) {
    if (!crypto::is_canonical_ed25519(public_key, signature)) {
        return false;
    }
    pending.push_back(
        {{public_key.begin(), public_key.end()}, {message.begin(), message.end()}, {signature.begin(), signature.end()}}
    );
    return true;
}

std::vector<PendingSignature> take_signatures() { return std::exchange(pending, {}); }

}  // namespace referee
}  // namespace assay

#define EXPORT(name) __attribute__((export_name(#name), used)) name

extern "C" {

void* EXPORT(referee_allocate)(std::size_t size);
void EXPORT(referee_release)(void* memory);
const char* EXPORT(referee_call)(std::uint32_t question, const std::uint8_t* arguments, std::size_t size);
std::size_t EXPORT(referee_answer_size)();

/// Returns `size` bytes for a question, or 0 if there is no memory.
void* referee_allocate(std::size_t size) { return std::malloc(size); }

void referee_release(void* memory) { std::free(memory); }

/// Answers the question with this number (call.hpp), whose arguments are Borsh. Returns where the answer, JSON, begins.
const char* referee_call(std::uint32_t question, const std::uint8_t* arguments, std::size_t size) {
    using namespace assay;
    referee::answer = canonical::floating_point_is_canonical()
                          ? referee::with_signatures(referee::call(question, {arguments, size}))
                          : referee::make_error("this machine does not compute as IEEE 754 asks");
    return referee::answer.data();
}

std::size_t referee_answer_size() { return assay::referee::answer.size(); }
}

void* operator new(std::size_t size) {
    void* memory = std::malloc(size == 0 ? 1 : size);
    if (memory == nullptr) {
        __builtin_trap();
    }
    return memory;
}
void* operator new[](std::size_t size) { return ::operator new(size); }
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t /*size*/) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t /*size*/) noexcept { std::free(memory); }
