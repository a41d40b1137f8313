// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <type_traits>

#include <core/base/fields.hpp>

/// Checks at compile time that fields() lists as many members as a struct has.
namespace assay {

namespace member_count {

// The names m1 to m80: a structured binding compiles only if there are as many names as members.
#define ASSAY_M1 m1
#define ASSAY_M2 ASSAY_M1, m2
#define ASSAY_M3 ASSAY_M2, m3
#define ASSAY_M4 ASSAY_M3, m4
#define ASSAY_M5 ASSAY_M4, m5
#define ASSAY_M6 ASSAY_M5, m6
#define ASSAY_M7 ASSAY_M6, m7
#define ASSAY_M8 ASSAY_M7, m8
#define ASSAY_M9 ASSAY_M8, m9
#define ASSAY_M10 ASSAY_M9, m10
#define ASSAY_M11 ASSAY_M10, m11
#define ASSAY_M12 ASSAY_M11, m12
#define ASSAY_M13 ASSAY_M12, m13
#define ASSAY_M14 ASSAY_M13, m14
#define ASSAY_M15 ASSAY_M14, m15
#define ASSAY_M16 ASSAY_M15, m16
#define ASSAY_M17 ASSAY_M16, m17
#define ASSAY_M18 ASSAY_M17, m18
#define ASSAY_M19 ASSAY_M18, m19
#define ASSAY_M20 ASSAY_M19, m20
#define ASSAY_M21 ASSAY_M20, m21
#define ASSAY_M22 ASSAY_M21, m22
#define ASSAY_M23 ASSAY_M22, m23
#define ASSAY_M24 ASSAY_M23, m24
#define ASSAY_M25 ASSAY_M24, m25
#define ASSAY_M26 ASSAY_M25, m26
#define ASSAY_M27 ASSAY_M26, m27
#define ASSAY_M28 ASSAY_M27, m28
#define ASSAY_M29 ASSAY_M28, m29
#define ASSAY_M30 ASSAY_M29, m30
#define ASSAY_M31 ASSAY_M30, m31
#define ASSAY_M32 ASSAY_M31, m32
#define ASSAY_M33 ASSAY_M32, m33
#define ASSAY_M34 ASSAY_M33, m34
#define ASSAY_M35 ASSAY_M34, m35
#define ASSAY_M36 ASSAY_M35, m36
#define ASSAY_M37 ASSAY_M36, m37
#define ASSAY_M38 ASSAY_M37, m38
#define ASSAY_M39 ASSAY_M38, m39
#define ASSAY_M40 ASSAY_M39, m40
#define ASSAY_M41 ASSAY_M40, m41
#define ASSAY_M42 ASSAY_M41, m42
#define ASSAY_M43 ASSAY_M42, m43
#define ASSAY_M44 ASSAY_M43, m44
#define ASSAY_M45 ASSAY_M44, m45
#define ASSAY_M46 ASSAY_M45, m46
#define ASSAY_M47 ASSAY_M46, m47
#define ASSAY_M48 ASSAY_M47, m48
#define ASSAY_M49 ASSAY_M48, m49
#define ASSAY_M50 ASSAY_M49, m50
#define ASSAY_M51 ASSAY_M50, m51
#define ASSAY_M52 ASSAY_M51, m52
#define ASSAY_M53 ASSAY_M52, m53
#define ASSAY_M54 ASSAY_M53, m54
#define ASSAY_M55 ASSAY_M54, m55
#define ASSAY_M56 ASSAY_M55, m56
#define ASSAY_M57 ASSAY_M56, m57
#define ASSAY_M58 ASSAY_M57, m58
#define ASSAY_M59 ASSAY_M58, m59
#define ASSAY_M60 ASSAY_M59, m60
#define ASSAY_M61 ASSAY_M60, m61
#define ASSAY_M62 ASSAY_M61, m62
#define ASSAY_M63 ASSAY_M62, m63
#define ASSAY_M64 ASSAY_M63, m64
#define ASSAY_M65 ASSAY_M64, m65
#define ASSAY_M66 ASSAY_M65, m66
#define ASSAY_M67 ASSAY_M66, m67
#define ASSAY_M68 ASSAY_M67, m68
#define ASSAY_M69 ASSAY_M68, m69
#define ASSAY_M70 ASSAY_M69, m70
#define ASSAY_M71 ASSAY_M70, m71
#define ASSAY_M72 ASSAY_M71, m72
#define ASSAY_M73 ASSAY_M72, m73
#define ASSAY_M74 ASSAY_M73, m74
#define ASSAY_M75 ASSAY_M74, m75
#define ASSAY_M76 ASSAY_M75, m76
#define ASSAY_M77 ASSAY_M76, m77
#define ASSAY_M78 ASSAY_M77, m78
#define ASSAY_M79 ASSAY_M78, m79
#define ASSAY_M80 ASSAY_M79, m80
#define ASSAY_BIND(count)                                      \
    if constexpr (kCount == count) {                           \
        [[maybe_unused]] const auto& [ASSAY_M##count] = value; \
        return true;                                           \
    }

// clang-format off
#define ASSAY_BIND_TEN(a, b, c, d, e, f, g, h, i, j) \
    ASSAY_BIND(a) ASSAY_BIND(b) ASSAY_BIND(c) ASSAY_BIND(d) ASSAY_BIND(e) \
    ASSAY_BIND(f) ASSAY_BIND(g) ASSAY_BIND(h) ASSAY_BIND(i) ASSAY_BIND(j)
// clang-format on

/// Does not compile if a `T` does not have kCount members: the compiler then says how many it has.
template <class T, std::size_t kCount>
constexpr bool binds(const T& value) {
    if constexpr (kCount == 0) {
        static_assert(std::is_empty_v<T>, "fields() is empty, but the struct has members");
        return true;
    }
    ASSAY_BIND_TEN(1, 2, 3, 4, 5, 6, 7, 8, 9, 10)
    ASSAY_BIND_TEN(11, 12, 13, 14, 15, 16, 17, 18, 19, 20)
    ASSAY_BIND_TEN(21, 22, 23, 24, 25, 26, 27, 28, 29, 30)
    ASSAY_BIND_TEN(31, 32, 33, 34, 35, 36, 37, 38, 39, 40)
    ASSAY_BIND_TEN(41, 42, 43, 44, 45, 46, 47, 48, 49, 50)
    ASSAY_BIND_TEN(51, 52, 53, 54, 55, 56, 57, 58, 59, 60)
    ASSAY_BIND_TEN(61, 62, 63, 64, 65, 66, 67, 68, 69, 70)
    ASSAY_BIND_TEN(71, 72, 73, 74, 75, 76, 77, 78, 79, 80)
    static_assert(kCount <= 80, "a struct with more than 80 members: extend member_count.hpp");
}

#undef ASSAY_M1
#undef ASSAY_M2
#undef ASSAY_M3
#undef ASSAY_M4
#undef ASSAY_M5
#undef ASSAY_M6
#undef ASSAY_M7
#undef ASSAY_M8
#undef ASSAY_M9
#undef ASSAY_M10
#undef ASSAY_M11
#undef ASSAY_M12
#undef ASSAY_M13
#undef ASSAY_M14
#undef ASSAY_M15
#undef ASSAY_M16
#undef ASSAY_M17
#undef ASSAY_M18
#undef ASSAY_M19
#undef ASSAY_M20
#undef ASSAY_M21
#undef ASSAY_M22
#undef ASSAY_M23
#undef ASSAY_M24
#undef ASSAY_M25
#undef ASSAY_M26
#undef ASSAY_M27
#undef ASSAY_M28
#undef ASSAY_M29
#undef ASSAY_M30
#undef ASSAY_M31
#undef ASSAY_M32
#undef ASSAY_M33
#undef ASSAY_M34
#undef ASSAY_M35
#undef ASSAY_M36
#undef ASSAY_M37
#undef ASSAY_M38
#undef ASSAY_M39
#undef ASSAY_M40
#undef ASSAY_M41
#undef ASSAY_M42
#undef ASSAY_M43
#undef ASSAY_M44
#undef ASSAY_M45
#undef ASSAY_M46
#undef ASSAY_M47
#undef ASSAY_M48
#undef ASSAY_M49
#undef ASSAY_M50
#undef ASSAY_M51
#undef ASSAY_M52
#undef ASSAY_M53
#undef ASSAY_M54
#undef ASSAY_M55
#undef ASSAY_M56
#undef ASSAY_M57
#undef ASSAY_M58
#undef ASSAY_M59
#undef ASSAY_M60
#undef ASSAY_M61
#undef ASSAY_M62
#undef ASSAY_M63
#undef ASSAY_M64
#undef ASSAY_M65
#undef ASSAY_M66
#undef ASSAY_M67
#undef ASSAY_M68
#undef ASSAY_M69
#undef ASSAY_M70
#undef ASSAY_M71
#undef ASSAY_M72
#undef ASSAY_M73
#undef ASSAY_M74
#undef ASSAY_M75
#undef ASSAY_M76
#undef ASSAY_M77
#undef ASSAY_M78
#undef ASSAY_M79
#undef ASSAY_M80
#undef ASSAY_BIND
#undef ASSAY_BIND_TEN

template <class T, auto... members>
constexpr bool check(Fields<members...> /*fields*/) {
    // Taking the address instantiates the function without a value to call it with.
    [[maybe_unused]] constexpr auto* kBinds = &binds<T, sizeof...(members)>;
    return true;
}

}  // namespace member_count

/// True for every struct with fields() that compiles: a member that fields() forgets is an error.
template <class T>
constexpr bool kListsEveryMember = member_count::check<T>(T::fields());

}  // namespace assay
