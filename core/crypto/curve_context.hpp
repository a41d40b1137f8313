// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <secp256k1.h>

namespace assay::crypto {

/// The context of all operations on secret keys, blinded once with fresh randomness against side channels. Its use is
/// safe from any thread. Only for files of this folder.
const secp256k1_context* curve_context();

}  // namespace assay::crypto
