import type { TokenMint } from '@reeve/core';

/** Nobody in the simulation calls by a token. */
export const noMint: TokenMint = {
  makeKey: (now) => Promise.resolve({ kid: 'none', privateJwk: '', publicJwk: '', createdAt: now }),
  sign: () => Promise.resolve(''),
  signText: () => Promise.resolve(''),
  verify: () => Promise.resolve(undefined),
};
