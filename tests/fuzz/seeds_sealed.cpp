// SPDX-License-Identifier: Apache-2.0
#include <core/codec/borsh.hpp>
#include <core/sealed/share.hpp>
#include <tests/fuzz/sealed_shapes.hpp>
#include <tests/fuzz/seeds.hpp>

namespace assay::fuzz {

void write_sealed_seeds(const CorpusWriter& out) {
    const SealedCase honest;
    out.write("sealed", "file", honest.file.bytes);
    Bytes altered = honest.file.bytes;
    altered.back() ^= 1U;
    out.write("sealed", "file_with_a_wrong_chunk", altered);
    const auto root = sealed::check_sealed(ByteView(altered)).value();
    out.write("sealed", "evidence", codec::encode(std::get<sealed::WrongChunk>(honest.open(altered, root).error())));

    // A small file with groups, and evidence about it: easier to alter than what has 16 KiB.
    const Bytes blob(40, 7);
    const sealed::Artifact artifact{.task = honest.artifact.task, .name = crypto::sha256(blob)};
    const auto small = sealed::seal_blob(ByteView(blob), honest.secret, artifact).value();
    out.write("sealed", "small_file", small.bytes);
    const auto failure = honest.open(small.bytes, small.root);
    out.write("sealed", "small_evidence", codec::encode(std::get<sealed::WrongChunk>(failure.error())));

    const crypto::EciesEntropy entropy{.ephemeral = crypto::sha256(as_bytes("ephemeral")).data, .nonce = {1}};
    const AccountId reader = honest.secret.scalar().account();
    const sealed::ShareName name{
        .chain_id = "assay-fuzz", .task = honest.artifact.task, .to = reader, .is_of_checkpoints = false};
    out.write("sealed", "share", *sealed::make_share(honest.secret, reader, name, entropy));
    const sealed::TaskSecret other(crypto::SecretKey::from_bytes(crypto::sha256(as_bytes("other")).view()).value());
    out.write("sealed", "share_of_another_task", *sealed::make_share(other, reader, name, entropy));
}

}  // namespace assay::fuzz
