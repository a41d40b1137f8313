// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include <client/referee/wasm/signatures.hpp>
#include <client/signer/answers.hpp>
#include <core/base/assert.hpp>

/// The module's interface, like the referee's: functions of numbers over its memory, which signer.js calls. There are
/// no imports, so a secret that is written into the memory cannot leave it by itself.

namespace assay {

void assertion_failed(const char* /*expression*/, const char* /*file*/, int /*line*/) noexcept { __builtin_trap(); }

namespace referee {

/// Nothing here verifies ed25519.
bool note_signature(ByteView /*public_key*/, ByteView /*message*/, ByteView /*signature*/) { return false; }

}  // namespace referee

namespace signer {
namespace {

std::string last_answer;

}  // namespace
}  // namespace signer
}  // namespace assay

#define EXPORT(name) __attribute__((export_name(#name), used)) name

extern "C" {

void* EXPORT(signer_allocate)(std::size_t size);
void EXPORT(signer_release)(void* memory, std::size_t size);
const char* EXPORT(signer_call)(std::uint32_t question, const std::uint8_t* arguments, std::size_t size);
std::size_t EXPORT(signer_answer_size)();

/// Returns `size` bytes for a question, or 0 if there is no memory.
void* signer_allocate(std::size_t size) { return std::malloc(size); }

/// Overwrites the question, which has the secret in it.
void signer_release(void* memory, std::size_t size) {
    auto* bytes = static_cast<volatile std::uint8_t*>(memory);
    for (std::size_t i = 0; i < size; ++i) {
        bytes[i] = 0;
    }
    std::free(memory);
}

/// Answers the question with this number (answers.hpp). Returns where the answer, JSON, begins.
const char* signer_call(std::uint32_t question, const std::uint8_t* arguments, std::size_t size) {
    assay::signer::last_answer = assay::signer::answer(question, {arguments, size});
    return assay::signer::last_answer.data();
}

std::size_t signer_answer_size() { return assay::signer::last_answer.size(); }
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
