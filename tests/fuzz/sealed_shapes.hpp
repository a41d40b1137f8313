// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include <core/canonical/tile.hpp>
#include <core/crypto/hash.hpp>
#include <core/dispute/commitment.hpp>
#include <core/sealed/evidence.hpp>
#include <core/sealed/files/check.hpp>
#include <core/sealed/files/open.hpp>
#include <core/sealed/files/seal.hpp>

namespace assay::fuzz {

/// A state of one tensor of six tiles that was sealed rightly; the same on every run.
struct SealedCase {
    canonical::Tensor tensor = canonical::make_tensor(canonical::DType::kF32, {.rows = 170, .cols = 3});
    Hash256 commitment = dispute::commit_tensor(tensor);
    sealed::TaskSecret secret =
        sealed::TaskSecret(crypto::SecretKey::from_bytes(crypto::sha256(as_bytes("task secret")).view()).value());
    sealed::Artifact artifact{
        .task = crypto::sha256(as_bytes("task")), .name = dispute::state_root(std::span(&commitment, 1))};
    sealed::SealedFile file = sealed::seal_state(std::span(&tensor, 1), secret, artifact).value();
    canonical::TensorType type{.dtype = tensor.dtype, .shape = tensor.shape};
    AccountId reporter = crypto::SecretKey::from_bytes(crypto::sha256(as_bytes("reporter")).view()).value().account();

    sealed::SealedContext context(const Hash256& sealed_root) const {
        return {
            .task = artifact.task,
            .artifact = artifact.name,
            .key = secret.key(),
            .sealed_root = sealed_root,
            .state_tensors = 1,
            .reporter = reporter,
        };
    }
    Result<std::vector<canonical::Tensor>, sealed::OpenFailure> open(ByteView other, const Hash256& sealed_root) const {
        const sealed::StateReader reader{
            .secret = secret,
            .artifact = artifact,
            .sealed_root = sealed_root,
            .types = std::span(&type, 1),
            .reporter = reporter,
            .aux = {},
        };
        return sealed::open_state(sealed::MemorySource(other), reader);
    }
};

}  // namespace assay::fuzz
