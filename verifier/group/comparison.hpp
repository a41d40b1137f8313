// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include <core/base/bytes.hpp>
#include <verifier/engine/cell/collective.hpp>
#include <verifier/group/equivocation.hpp>
#include <verifier/group/ledger.hpp>
#include <verifier/group/shown.hpp>
#include <verifier/group/topics.hpp>

namespace assay::group {

/// How many lines of what it was told a rank shows at once, if nothing else is agreed: 2.4 MiB.
inline constexpr std::uint32_t kLinesAtOnce = std::uint32_t{1} << 15U;

/// What a rank was told in a segment, to be compared with what others were told: a rank that has told two others
/// different things of one has signed both (STM-7). What messages say of the same pieces of a node or a tensor is
/// compared by its hash, whatever else they say; evidence travels only where these differ, and then to all ranks.
class Heard {
  public:
    /// All ranks of a session have to show as many lines at once. So many of each other rank are in memory.
    explicit Heard(std::uint32_t lines_at_once = kLinesAtOnce) : lines_at_once_(lines_at_once) {}

    void add(const Told& told);
    void clear();

    /// Compares with the other ranks, and shows them what it found: all of them call it at the same time. `is_signed`
    /// is asked of ranks of the session. Returns the evidence against each rank that was found to equivocate, by this
    /// rank or by another that shows it: one for each. Nobody is found by what another rank makes up. All have been
    /// added to the ledger, and the ledgers of all ranks have the same limit, which bounds how many lines one can have.
    /// Throws as Collective::exchange() does, and engine::RankError if a rank says that it has more than that, if rank
    /// 0 has the ranks show fewer than this one has, or if a rank shows more than it can have found.
    std::vector<Equivocation> compare(
        engine::Collective& links, const Ledger& ledger, const Occasion& occasion,
        const std::function<IsSigned>& is_signed
    ) const;

  private:
    /// Author, step, and the topic's pieces by their hash.
    using Place = std::tuple<std::uint32_t, std::uint64_t, Hash256>;
    using Found = std::map<std::uint32_t, Equivocation>;  // by author
    class Kept;

    Found find(
        engine::Collective& links, const Ledger& ledger, const Occasion& occasion,
        const std::function<IsSigned>& is_signed
    ) const;
    std::vector<Bytes> show_lines(engine::Collective& links, std::uint64_t lines_max) const;
    std::optional<std::uint64_t> differing(std::uint32_t other, const std::vector<HeardLine>& lines) const;
    Bytes answer_to(const Bytes& asked, Kept& kept) const;
    std::optional<std::pair<Place, Hash256>> contradicted_by(const Told& told) const;

    std::uint32_t lines_at_once_;
    std::map<Place, Hash256> said_;  ///< what was said first there
    /// Of each author that has told this rank itself two things in one place, the first such place and what it said
    /// then.
    std::map<std::uint32_t, std::pair<Place, Hash256>> contradicted_;
    TopicsByMessage topics_;
};

}  // namespace assay::group
