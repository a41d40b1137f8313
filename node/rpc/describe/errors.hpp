// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace assay::rpc::describe {

/// The word for an error code of JSON-RPC, such as "not_found".
const char* name_of(int code);
/// What a caller can do about it.
const char* hint_of(int code);

}  // namespace assay::rpc::describe
