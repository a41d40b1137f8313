// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <variant>

#include <core/sealed/share.hpp>
#include <tests/fuzz/fuzz.hpp>
#include <tests/fuzz/sealed_shapes.hpp>

/// What strangers send of private tasks: evidence, sealed files and shares.
namespace assay::fuzz {
namespace {

/// Nothing convicts whoever sealed rightly, and every conviction is one that a reader of the file comes to as well.
void check_evidence(const SealedCase& honest, ByteView input) {
    const auto evidence = round_trip<sealed::WrongChunk>(input);
    if (!evidence) {
        return;
    }
    ASSERT(!sealed::judge(*evidence, honest.context(honest.file.root)));
    if (sealed::is_well_formed(*evidence)) {
        ASSERT(input.size() <= sealed::largest_evidence_bytes());
        const auto judged = sealed::judge(*evidence, honest.context(sealed::sealed_root_of(evidence->opening)));
        ASSERT(judged || judged.error() != sealed::EvidenceError::kOpening);
    }
}

/// A file that is not the sealed state is refused, or yields evidence that holds.
void check_file(const SealedCase& honest, ByteView input) {
    const auto checked = sealed::check_file(sealed::MemorySource(input));
    if (!checked) {
        return;
    }
    const Bytes header = sealed::encode_header(checked->layout.header());
    ASSERT(same(header, input.first(header.size())));
    ASSERT(checked->layout.file_bytes() == input.size());
    const auto opened = honest.open(input, checked->root);
    ASSERT(opened.has_value() == same(input, honest.file.bytes));
    if (!opened) {
        const auto* evidence = std::get_if<sealed::WrongChunk>(&opened.error());
        ASSERT(evidence != nullptr && sealed::judge(*evidence, honest.context(checked->root)));
    }
    ASSERT(!sealed::open_blob(input, honest.secret, honest.artifact, checked->root));
}

void check_share(const SealedCase& honest, ByteView input) {
    const crypto::SecretKey reader = honest.secret.scalar();
    const sealed::ShareContext context{.key = honest.secret.key(), .reader = reader.account()};
    const auto judged = sealed::judge_share(context, input, sealed::make_wrong_share(reader, input, {}));
    const bool opens = sealed::open_share(reader, context.key, input).has_value();
    ASSERT(judged == (opens ? sealed::ShareJudgement::kRight : sealed::ShareJudgement::kWrong));
}

}  // namespace

void run(ByteView input) {
    static const SealedCase kHonest;
    check_evidence(kHonest, input);
    check_file(kHonest, input);
    check_share(kHonest, input.first(std::min<std::size_t>(input.size(), 2 * sealed::kShareBytes)));
}

}  // namespace assay::fuzz
