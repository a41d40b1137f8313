// SPDX-License-Identifier: Apache-2.0
export const GRAINS_PER_ASY = 10n ** 9n;
const MAX_GRAINS = 2n ** 64n - 1n;

/** Grains of an amount in ASY, written as a string ("1.5"); exact. Throws RangeError. */
export function toGrains(asy) {
  const match = typeof asy === "string" ? /^(0|[1-9][0-9]{0,10})(?:\.([0-9]{1,9}))?$/.exec(asy) : null;
  const grains = match ? BigInt(match[1]) * GRAINS_PER_ASY + BigInt((match[2] ?? "").padEnd(9, "0")) : -1n;
  if (grains < 0n || grains > MAX_GRAINS) {
    throw new RangeError(`${JSON.stringify(asy)} is not an amount in ASY with at most nine decimals, as a string`);
  }
  return grains;
}

/** An amount of the RPC (a decimal string of grains, or a bigint) as `1.5 ASY`. Throws RangeError. */
export function formatAsy(grains) {
  if (typeof grains !== "bigint" && !/^(0|[1-9][0-9]{0,19})$/.test(grains)) {
    throw new RangeError("not an amount in grains");
  }
  const value = BigInt(grains);
  if (value < 0n || value > MAX_GRAINS) {
    throw new RangeError("an amount is from 0 to 2^64 - 1 grains");
  }
  const rest = (value % GRAINS_PER_ASY).toString().padStart(9, "0").replace(/0+$/, "");
  return `${value / GRAINS_PER_ASY}${rest ? "." + rest : ""} ASY`;
}
