import { hash, randomBytes } from 'node:crypto';
import type { Randomness } from '@reeve/core';

export function sha256(text: string): string {
  return hash('sha256', text, 'hex');
}

export const randomness: Randomness = {
  hex: (bytes) => randomBytes(bytes).toString('hex'),
  base64url: (bytes) => randomBytes(bytes).toString('base64url'),
};
