import { createPublicKey, verify } from 'node:crypto';
import { createReadStream } from 'node:fs';
import type { Anchor } from '@reeve/contract/audit';
import { anchoredText, anchorOf } from '@reeve/contract/audit';
import { CliError } from '../cli-error.ts';
import { linesOf } from './lines-of.ts';
import type { Jwks } from './signed-cut.ts';

/** The anchors of a file, oldest first, each with the number of its line. */
export type AnchorLines = readonly { readonly line: number; readonly anchor: Anchor }[];

export async function readAnchors(file: string): Promise<AnchorLines> {
  const anchors: { line: number; anchor: Anchor }[] = [];
  let line = 0;
  try {
    for await (const text of linesOf(createReadStream(file) as AsyncIterable<Buffer>)) {
      line++;
      if (text.trim() === '') continue;
      const anchor = anchorOf(text);
      if (anchor === undefined) throw new CliError(`${file}, line ${line}: it is no anchor`);
      if (anchor !== 'torn') anchors.push({ line, anchor });
    }
  } catch (error) {
    if (error instanceof CliError) throw error;
    throw new CliError(`cannot read ${file}: ${error instanceof Error ? error.message : String(error)}`, {
      cause: error,
    });
  }
  return anchors;
}

/** The first line without a valid signature of a gateway key, and why. Undefined if all are valid. */
export function unsignedAnchor(anchors: AnchorLines, keys: Jwks): string | undefined {
  const byKid = new Map(keys.map((key) => [key['kid'], key]));
  for (const { line, anchor } of anchors) {
    const key = byKid.get(anchor.kid);
    if (key === undefined) {
      return `line ${line} of the anchor is of another log: the gateway has no key ${anchor.kid}, which signed it`;
    }
    if (!isSignedBy(key, anchor)) return `line ${line} of the anchor is forged: its signature is not good`;
  }
  return undefined;
}

function isSignedBy(key: Jwks[number], anchor: Anchor): boolean {
  try {
    const publicKey = createPublicKey({ key, format: 'jwk' });
    return verify(null, Buffer.from(anchoredText(anchor)), publicKey, Buffer.from(anchor.signature, 'base64url'));
  } catch {
    return false;
  }
}
