// SPDX-License-Identifier: Apache-2.0
export { AssayClient } from "./client.js";
export * from "./errors.js";
export { Signer, TxFailed, TxUncertain, awaitTransaction, loadSigner, send } from "./signer.js";
export { Subscription } from "./subscription.js";
export { GRAINS_PER_ASY, formatAsy, toGrains } from "./units.js";
export { verifyDispute, verifyTaskHistory, verifySlot } from "./verify.js";
