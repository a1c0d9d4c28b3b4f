import type { Cut } from '@reeve/contract/audit';
import { signedText } from '@reeve/contract/audit';

const encoder = new TextEncoder();

/** Browsers offer cryptography only on https and localhost. */
export function canVerify(): boolean {
  return globalThis.crypto?.subtle !== undefined;
}

export async function hexSha256(text: string): Promise<string> {
  const digest = await crypto.subtle.digest('SHA-256', encoder.encode(text));
  let hex = '';
  for (const byte of new Uint8Array(digest)) hex += byte.toString(16).padStart(2, '0');
  return hex;
}

/** Whether a gateway key signed a cut of the log. */
export async function isSigned(cut: Cut, keys: readonly object[]): Promise<boolean> {
  const [head = '', text = '', signature = ''] = cut.signature.split('.');
  try {
    const header = JSON.parse(textOf(head)) as { readonly alg?: unknown; readonly kid?: unknown };
    const jwk = keys.find((key) => 'kid' in key && key.kid === header.kid);
    if (header.alg !== 'EdDSA' || jwk === undefined || textOf(text) !== signedText(cut)) return false;
    const key = await crypto.subtle.importKey('jwk', jwk as JsonWebKey, 'Ed25519', false, ['verify']);
    return await crypto.subtle.verify('Ed25519', key, bytesOf(signature), encoder.encode(`${head}.${text}`));
  } catch {
    return false;
  }
}

function textOf(part: string): string {
  return new TextDecoder().decode(bytesOf(part));
}

function bytesOf(part: string): Uint8Array<ArrayBuffer> {
  const base64 = part.replaceAll('-', '+').replaceAll('_', '/');
  return Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
}
