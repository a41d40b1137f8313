// SPDX-License-Identifier: Apache-2.0
// Error: only 2 names
#include <cstdint>

#include <core/base/fields.hpp>
#include <core/codec/borsh.hpp>

namespace assay {

/// A record whose fields() forgets a member, which no encoding would keep.
struct Record {
    std::uint32_t first = 0;
    std::uint32_t second = 0;
    std::uint32_t third = 0;
#ifdef VIOLATION
    static constexpr auto fields() { return Fields<&Record::first, &Record::second>{}; }
#else
    static constexpr auto fields() { return Fields<&Record::first, &Record::second, &Record::third>{}; }
#endif
};

Bytes probe(const Record& record) { return codec::encode(record); }

}  // namespace assay
