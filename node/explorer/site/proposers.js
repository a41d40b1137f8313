// SPDX-License-Identifier: Apache-2.0
// Who proposed a block. Under CometBFT a block names its proposer by the address of its consensus key, which comes as an
// address whose last twelve bytes are zero.
import {account, hash} from "./format.js";
import {call} from "./rpc.js";

const kLetters = "qpzry9x8gf2tvdw0s3jn54khce6mua7l"; // of Bech32m (BIP-350), by value
const kChecksum = 6; // letters

/** The bytes of an address in hex; "" for what is none. */
function bytes_of(address) {
  let bits = 0;
  let held = 0;
  let hex = "";
  for (const letter of String(address).replace(/^assay1/, "").slice(0, -kChecksum)) {
    const value = kLetters.indexOf(letter);
    if (value < 0) return "";
    held = ((held << 5) | value) & 0xfff;
    bits += 5;
    if (bits >= 8) {
      bits -= 8;
      hex += ((held >> bits) & 0xff).toString(16).padStart(2, "0");
    }
  }
  return hex;
}

/** A function that shows a block's proposer: the account of the validator, or its consensus address if nobody has it now. */
export async function proposers(status, signal) {
  if (status.engine !== "cometbft") return account;
  const {validators} = await call("validator_list", {}, signal);
  const accounts = new Map(validators.map((v) => [v.address, v.account]));
  return (proposer) => {
    const address = bytes_of(proposer).slice(0, 40);
    return accounts.has(address) ? account(accounts.get(address)) : hash(address);
  };
}
