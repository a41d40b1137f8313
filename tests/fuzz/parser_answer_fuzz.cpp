// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <core/codec/borsh.hpp>
#include <tests/fuzz/fuzz.hpp>
#include <verifier/artifacts/foreign.hpp>
#include <verifier/taskdir/parser_orders.hpp>

/// What a parser in the sandbox may answer that a file has taken over: an answer after its length, and then the file
/// that it is to be about.
namespace assay::fuzz {
namespace {

template <class Answer>
void check_encoding(ByteView bytes) {
    const auto answer = codec::decode<Answer>(bytes);
    const Bytes again = answer ? codec::encode(*answer) : Bytes(bytes.begin(), bytes.end());
    ASSERT(std::equal(again.begin(), again.end(), bytes.begin(), bytes.end()));
}

}  // namespace

void run(ByteView input) {
    ByteView file = input;
    const auto bytes = taskdir::take_answer(file);
    if (!bytes) {
        return;
    }
    ASSERT(bytes->size() + file.size() < input.size());
    check_encoding<taskdir::ModelAnswer>(*bytes);
    check_encoding<taskdir::TextAnswer>(*bytes);
    check_encoding<artifacts::LossesAnswer>(*bytes);
    check_encoding<artifacts::SeatsAnswer>(*bytes);
    const auto answer = codec::decode<artifacts::LayoutAnswer>(*bytes);
    const auto* layout = answer ? std::get_if<artifacts::SafetensorsLayout>(&*answer) : nullptr;
    if (layout == nullptr || !artifacts::is_layout_of(*layout, file)) {
        return;
    }
    std::uint64_t total = 0;
    for (const auto& [name, tensor] : artifacts::take_tensors(*layout, file).tensors) {
        ASSERT(tensor.data.size() == tensor.shape.element_count() * canonical::size_of(tensor.dtype));
        total += tensor.data.size();
    }
    ASSERT(total < file.size());
}

}  // namespace assay::fuzz
