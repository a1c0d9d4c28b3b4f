import type { Decisions } from '@reeve/core';
import { authenticateAgent } from '@reeve/core';
import { readerOfAgent } from '../../evaluation/tenant-slots.ts';
import { decodeFromAgent } from './decode.ts';
import type { FindCredential } from './rpc.ts';

/**
 * Finds the agent and its token in the beginning of a message that brings a result, and verifies them as the call itself
 * will. They are its first two members, as every encoder writes them; whoever writes them later makes another call first.
 */
export function findCredential(decisions: Decisions): FindCredential {
  return (begin, call) => {
    const end = endOfMembers(begin, 2);
    if (end === undefined) return undefined;
    if (end === 'never') return false;
    return shown(decisions, begin.slice(0, end)).then((reader) => {
      call.credentialShown(reader);
      return true;
    });
  };
}

async function shown(decisions: Decisions, begin: Uint8Array): Promise<string> {
  const { agentId, credentialToken } = await decodeFromAgent(decisions, 'CheckResultRequest', begin);
  await decisions.journal.fresh(() => Promise.resolve(authenticateAgent(decisions, agentId, credentialToken)));
  return readerOfAgent(agentId);
}

/** A member of a message: its number and wire type, then its length. */
const lengthDelimited = 2;
/** An id and a token take no more, with room for what later versions may add to an id. */
const longest = 32 * 1024;

/** Where the first members end: their numbers count from 1, and their lengths are told. Undefined if more must come first. */
function endOfMembers(bytes: Uint8Array, members: number): number | 'never' | undefined {
  let at = 0;
  for (let member = 1; member <= members; member++) {
    if (at >= bytes.length) return undefined;
    if (bytes[at] !== ((member << 3) | lengthDelimited)) return 'never';
    const length = readLength(bytes, at + 1);
    if (length === undefined) return bytes.length > at + mostOfLength ? 'never' : undefined;
    at = length.end + length.value;
    if (at > longest) return 'never';
    if (at > bytes.length) return undefined;
  }
  return at;
}

const mostOfLength = 4;

/** A varint that a length may be. Undefined if it is longer, or not whole. */
function readLength(bytes: Uint8Array, start: number): { readonly value: number; readonly end: number } | undefined {
  let value = 0;
  for (let at = start; at < start + mostOfLength; at++) {
    const byte = bytes[at];
    if (byte === undefined) return undefined;
    value |= (byte & 0x7f) << (7 * (at - start));
    if (byte < 0x80) return { value, end: at + 1 };
  }
  return undefined;
}
