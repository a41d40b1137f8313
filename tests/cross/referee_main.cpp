// SPDX-License-Identifier: Apache-2.0
#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <core/base/bytes.hpp>
#include <core/crypto/hash.hpp>
#include <tests/cross/referee_cases.hpp>

/// referee_native ROOT DAMAGES: prints what the referee answers on this machine, for tests/cross/referee_test.mjs.
/// First each question, "case NAME QUESTION ARGUMENTS ANSWER"; then for each of them DAMAGES times the same with some
/// bytes of its arguments replaced or its end cut off, "damage CASE CUT OFFSET:BYTE,... SHA256_OF_ANSWER". Fields are
/// separated by tabs, and bytes are hex.
namespace {

using namespace assay;
using referee::testing::Case;

struct Damage {
    std::size_t cut = 0;  ///< length of what is left
    std::vector<std::pair<std::size_t, std::uint8_t>> bytes;
};

/// One to three bytes anywhere, most often with one bit flipped; now and then the end is missing.
Damage make_damage(std::mt19937& random, const Bytes& arguments) {
    Damage out{.cut = arguments.size(), .bytes = {}};
    if (random() % 16 == 0) {
        out.cut = random() % arguments.size();
    }
    for (std::size_t left = 1 + random() % 3; left > 0; --left) {
        const std::size_t at = random() % arguments.size();
        const auto flipped = static_cast<std::uint8_t>(arguments[at] ^ (1U << random() % 8));
        out.bytes.emplace_back(at, random() % 4 == 0 ? static_cast<std::uint8_t>(random()) : flipped);
    }
    return out;
}

Bytes apply(const Damage& damage, Bytes arguments) {
    for (const auto& [at, byte] : damage.bytes) {
        arguments[at] = byte;
    }
    arguments.resize(damage.cut);
    return arguments;
}

void print_damages(const std::vector<Case>& cases, std::size_t index, std::uint32_t count) {
    std::mt19937 random(static_cast<std::uint32_t>(index + 1));
    const Case& c = cases[index];
    for (std::uint32_t i = 0; i < count; ++i) {
        const Damage damage = make_damage(random, c.arguments);
        std::cout << "damage\t" << index << '\t' << damage.cut << '\t';
        for (const auto& [at, byte] : damage.bytes) {
            std::cout << at << ':' << static_cast<unsigned>(byte) << ',';
        }
        const std::string answer = referee::call(static_cast<std::uint32_t>(c.question), apply(damage, c.arguments));
        const bool is_whole = c.question == referee::Question::kLightBlock;
        std::cout << '\t' << (is_whole ? answer : to_hex(crypto::sha256(as_bytes(answer)).view())) << '\n';
    }
}

}  // namespace

int main(int argc, char** argv) {
    if (argc != 3) {
        std::cerr << "usage: referee_native ROOT DAMAGES\n";
        return 2;
    }
    doctest::Context context;
    context.setAsDefaultForAssertsOutOfTestCases();
    const auto cases = referee::testing::make_cases(argv[1]);
    for (const Case& c : cases) {
        const auto question = static_cast<std::uint32_t>(c.question);
        std::cout << "case\t" << c.name << '\t' << question << '\t' << to_hex(c.arguments) << '\t'
                  << referee::call(question, c.arguments) << '\n';
    }
    const auto damages = static_cast<std::uint32_t>(std::strtoul(argv[2], nullptr, 10));
    for (std::size_t i = 0; i < cases.size(); ++i) {
        print_damages(cases, i, damages);
    }
    return std::cout.flush() ? 0 : 1;
}
