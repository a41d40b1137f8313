// SPDX-License-Identifier: Apache-2.0
#include <verifier/engine/fused/instructions.hpp>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <utility>

#if defined(__x86_64__)
#include <cpuid.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

namespace assay::engine::fused {
namespace {

Instructions limit() {
    constexpr std::array<std::pair<std::string_view, Instructions>, 7> kNames{
        {{"none", Instructions::kNone},
         {"neon", Instructions::kNeon},
         {"avx2", Instructions::kAvx2},
         {"avx-vnni", Instructions::kAvxVnni},
         {"avx512", Instructions::kAvx512},
         {"avx512-vnni", Instructions::kAvx512Vnni},
         {"amx", Instructions::kAmx}}};
    const char* const text = std::getenv("ASSAY_INSTRUCTIONS");
    if (text == nullptr || *text == '\0') {
        return Instructions::kAmx;
    }
    for (const auto& [name, instructions] : kNames) {
        if (name == text) {
            return instructions;
        }
    }
    std::fprintf(
        stderr, "ASSAY_INSTRUCTIONS is none, neon, avx2, avx-vnni, avx512, avx512-vnni or amx, not \"%s\": unset it\n",
        text
    );
    std::exit(2);
}

#if defined(__x86_64__)

struct Leaf {
    unsigned eax = 0;
    unsigned ebx = 0;
    unsigned ecx = 0;
    unsigned edx = 0;
};

Leaf features(unsigned subleaf) {
    Leaf leaf;
    __get_cpuid_count(7, subleaf, &leaf.eax, &leaf.ebx, &leaf.ecx, &leaf.edx);
    return leaf;
}

bool has_bit(unsigned word, unsigned bit) { return (word >> bit & 1U) != 0; }

/// Linux lends the matrix unit's registers to a process that asks for them, since version 5.16.
bool is_lent_tiles() {
    constexpr long kRequest = 0x1023;  // ARCH_REQ_XCOMP_PERM
    constexpr unsigned long kTileData = 18;
    return syscall(SYS_arch_prctl, kRequest, kTileData) == 0;
}

bool has(Instructions instructions) {
    switch (instructions) {
        case Instructions::kNone:
            return true;
        case Instructions::kNeon:
            return false;
        case Instructions::kAvx2:
            return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
        case Instructions::kAvxVnni:
            return has(Instructions::kAvx2) && has_bit(features(1).eax, 4);
        case Instructions::kAvx512:
            return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
                   __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bw");
        case Instructions::kAvx512Vnni:
            return has(Instructions::kAvx512) && __builtin_cpu_supports("avx512vnni");
        case Instructions::kAmx:
            return has(Instructions::kAvx512Vnni) && has_bit(features(0).edx, 24) && has_bit(features(0).edx, 25) &&
                   is_lent_tiles();
    }
    return false;
}

#else

bool has(Instructions instructions) {
#if defined(__aarch64__)
    return instructions <= Instructions::kNeon;  // every 64-bit ARM CPU has it
#else
    return instructions == Instructions::kNone;
#endif
}

#endif

}  // namespace

bool may_use(Instructions instructions) {
    static const Instructions kLimit = limit();
    return instructions <= kLimit && has(instructions);
}

}  // namespace assay::engine::fused
