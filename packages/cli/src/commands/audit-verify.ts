import { hash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import type { AnchoredVerdict, SaidToBe, Verdict } from '@reeve/contract/audit';
import { EntryVerifier, judgeAnchors, judgeLog, requiredAnchors } from '@reeve/contract/audit';
import type { AnchorLines } from '../audit/anchor-file.ts';
import { readAnchors, unsignedAnchor } from '../audit/anchor-file.ts';
import { linesOf } from '../audit/lines-of.ts';
import type { Jwks } from '../audit/signed-cut.ts';
import { isSigned } from '../audit/signed-cut.ts';
import { CliError, UsageError } from '../cli-error.ts';
import type { Input } from '../command-line/command.ts';
import { defineCommand } from '../command-line/command.ts';
import { flag, optional, text } from '../command-line/values.ts';
import { connect } from '../http/connect.ts';
import type { GatewayClient } from '../http/gateway-client.ts';
import { readChunks } from '../http/send.ts';
import { isObject } from '../is-object.ts';
import { cleanText } from '../output/clean-text.ts';
import { counted } from '../output/duration.ts';
import { print } from '../output/print.ts';
import { withProgress } from '../output/progress.ts';
import type { Shell } from '../shell.ts';

export const auditVerifyCommand = defineCommand({
  details: [
    'Checks that each entry’s hash fits its content, that each entry links to the one before, and that a log which does not start with its first entry was cut with a signature. Names the first broken entry and ends with 1.',
    'Without FILE it reads the log of the gateway, which needs the scope read and a credential that is bound to no tenant. For a filtered export, or a tenant’s, it checks each entry’s own hash and the links between neighbours, says that the chain was not checkable, and ends with 0.',
    'An export does not say whether it was filtered. If its entries have nothing in common that they may have been filtered by, such as an org or a type, and most of them link, it counts as a whole log with entries taken out. After a search for words, say --part.',
    'A chain cannot show by itself that its newest entries were cut off. With --anchor the log must contain what the gateway has appended to SVC_AUDIT_ANCHOR, each line signed by one of its keys.',
    'Data: {result: unbroken|broken|not_checkable, entries, first_seq, last_seq, last_hash, cut_at, broken_seq, why}; with --anchor also anchors: {lines, newest_seq, newest_at, accepted_lost}.',
  ],
  args: { file: optional('An export in JSON lines; "-" for standard input.', 'file') },
  options: {
    complete: flag('FILE must be the whole log: every missing entry means broken.'),
    part: flag('FILE was filtered: missing entries mean nothing.'),
    anchor: text('FILE', 'The anchor file of the gateway: the log must contain every entry that is anchored in it.', {
      completes: 'file',
    }),
    jwks: text(
      'FILE',
      'The keys that have signed cuts and anchors, as /.well-known/jwks.json had them. Default: those of the gateway.',
      {
        completes: 'file',
      },
    ),
  },
  examples: [
    ['reeve audit verify', 'the log of the gateway, as it is now'],
    ['reeve audit verify audit.jsonl --complete', 'an export that should be the whole log'],
    ['reeve audit verify audit.jsonl --anchor anchor.jsonl --jwks jwks.json', 'that its end was not cut off, offline'],
    ['reeve audit verify march.jsonl --jwks jwks.json', 'an old one, with the keys that were kept beside it'],
  ],
  run: async (input, shell) => {
    const { file } = input.args;
    const verdict = file === undefined ? await verifyOnline(input, shell) : await verifyFile(input, shell, file);
    print(shell, input.globals.output, verdict, () => cleanText(verdictText(verdict)));
    return verdict.result === 'broken' ? 1 : 0;
  },
});

type VerifyInput = Pick<Input, 'globals'> & {
  readonly options: {
    readonly complete: boolean;
    readonly part: boolean;
    readonly jwks: string | undefined;
    readonly anchor: string | undefined;
  };
};

async function verifyOnline(input: VerifyInput, shell: Shell): Promise<Verdict> {
  const { anchor, jwks } = input.options;
  const anchors = anchor === undefined ? undefined : await readAnchors(anchor);
  const kept = jwks === undefined ? undefined : await keysIn(jwks);
  return verifyGateway(shell, await connect(shell, input), input.globals.timeout * 1000, { anchors, kept });
}

/** Verifies the current log of a gateway. A tenant sees only a part of it. */
export async function verifyGateway(
  shell: Shell,
  client: GatewayClient,
  timeoutMs: number,
  { anchors, kept }: { readonly anchors?: AnchorLines | undefined; readonly kept?: Jwks | undefined } = {},
): Promise<Verdict> {
  const { org_id: org } = await client.call('me', {});
  const answer = await client.open('exportLogs', { query: { format: 'jsonl' } });
  const findings = await verifyLines(shell, readChunks(answer.body, client.apiUrl, timeoutMs), anchors);
  const keys = kept ?? (await keysOf(client));
  return judge(findings, anchors, keys, org === null ? 'whole' : 'part');
}

async function judge(
  findings: Verified,
  anchors: AnchorLines | undefined,
  keys: Jwks,
  saidToBe: SaidToBe,
): Promise<Verdict> {
  const verdict = await judgeLog(findings.verifier, (cut) => isSigned(cut, keys), saidToBe);
  if (anchors === undefined) return verdict;
  const { first, last, losses } = findings.verifier;
  const all = anchors.map(({ anchor }) => anchor);
  const required = new Set(requiredAnchors(all, losses));
  const unsigned = unsignedAnchor(
    anchors.filter(({ anchor }) => required.has(anchor)),
    keys,
  );
  const log = { first, last, losses, hashOf: (seq: number) => findings.anchored.get(seq) };
  const judged = judgeAnchors(verdict, all, log);
  if (verdict.result === 'broken' || unsigned === undefined) return judged;
  return { ...judged, result: 'broken', broken_seq: null, why: unsigned };
}

async function verifyFile(input: VerifyInput, shell: Shell, file: string): Promise<Verdict> {
  const { anchor, complete, part } = input.options;
  if (complete && part) throw new UsageError('--complete and --part exclude each other');
  const saidToBe = complete ? 'whole' : part ? 'part' : undefined;
  const anchors = anchor === undefined ? undefined : await readAnchors(anchor);
  const findings = await verifyStored(shell, file, anchors);
  const { cuts, first } = findings.verifier;
  const needsKeys = (cuts.length > 0 && first?.seq !== 1) || (anchors !== undefined && anchors.length > 0);
  const keys = needsKeys ? await keysFor(input, shell) : [];
  return judge(findings, anchors, keys, saidToBe);
}

interface Verified {
  readonly verifier: EntryVerifier;
  /** The hashes of the anchored entries. */
  readonly anchored: ReadonlyMap<number, string>;
}

async function verifyLines(shell: Shell, source: AsyncIterable<Buffer>, anchors: AnchorLines = []): Promise<Verified> {
  const verifier = new EntryVerifier();
  const wanted = new Set(anchors.map(({ anchor }) => anchor.seq));
  const anchored = new Map<number, string>();
  const work = async () => {
    for await (const line of linesOf(source)) {
      if (verifier.entries === 0 && line.startsWith('seq,at,')) {
        throw new CliError('a chain cannot be verified from CSV; export JSON lines');
      }
      const entry = verifier.read(line);
      if (entry !== undefined) verifier.take(entry, hash('sha256', entry.canonical));
      if (entry !== undefined && wanted.has(entry.place.seq)) anchored.set(entry.place.seq, entry.place.hash);
      if (verifier.broken !== undefined) break;
    }
  };
  await withProgress(shell, () => `Verifying: ${counted(verifier.entries, 'entry', 'entries')}`, work());
  return { verifier, anchored };
}

/** Reads a file and puts its errors into words. */
async function verifyStored(shell: Shell, file: string, anchors: AnchorLines | undefined): Promise<Verified> {
  try {
    const source = (file === '-' ? shell.stdin : createReadStream(file)) as AsyncIterable<Buffer>;
    return await verifyLines(shell, source, anchors);
  } catch (error) {
    if (error instanceof CliError) throw error;
    throw new CliError(`cannot read ${file}: ${error instanceof Error ? error.message : String(error)}`, {
      cause: error,
    });
  }
}

async function keysFor(input: VerifyInput, shell: Shell): Promise<Jwks> {
  const { jwks } = input.options;
  if (jwks !== undefined) return keysIn(jwks);
  try {
    return await keysOf(await connect(shell, input));
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new CliError(
      `the log was cut or is anchored, and the keys that could vouch for that cannot be had: ${why}. Name a file with --jwks`,
      { cause: error },
    );
  }
}

async function keysOf(client: GatewayClient): Promise<Jwks> {
  return (await client.call('jwks', {})).keys;
}

async function keysIn(file: string): Promise<Jwks> {
  const { readFile } = await import('node:fs/promises');
  try {
    const value: unknown = JSON.parse(await readFile(file, 'utf8'));
    if (isObject(value) && Array.isArray(value['keys'])) return value['keys'].filter(isObject);
  } catch (error) {
    throw new CliError(`cannot read ${file}: ${error instanceof Error ? error.message : String(error)}`, {
      cause: error,
    });
  }
  throw new CliError(`${file} is no JWKS: it must be {"keys": […]}`);
}

export function verdictText(verdict: Verdict | AnchoredVerdict): string {
  const text = chainText(verdict);
  if (verdict.result === 'broken' || !('anchors' in verdict)) return text;
  const { lines, newest_seq: seq, newest_at: at, accepted_lost: lost } = verdict.anchors;
  if (seq === null) return `${text}. The anchor is empty`;
  const count = counted(lines, 'anchor');
  const without = lost === 0 ? '' : `, but for ${lost} whose loss was accepted (see the entry AuditEntriesLost)`;
  if (verdict.result === 'not_checkable') return `${text}. So were its ${count}, as far as the entries are not there`;
  return `${text}. It contains all ${count}${without}; the newest is of entry ${seq} at ${at}`;
}

function chainText(verdict: Verdict): string {
  const {
    result,
    entries,
    first_seq: first,
    last_seq: last,
    last_hash: hash,
    cut_at: cut,
    broken_seq: seq,
    why,
  } = verdict;
  if (result === 'broken') return seq === null ? `Broken: ${why}` : `Entry ${seq} is broken: ${why}`;
  const count = counted(entries, 'entry', 'entries');
  if (entries === 0) return '0 entries, unbroken';
  if (result === 'not_checkable') {
    return `${count}, ${first} to ${last}: each one’s own hash fits. The chain was not checkable: ${why}`;
  }
  const after = cut === null ? '' : `, after a signed cut at ${cut}`;
  return `${count}, unbroken${after}; the newest is ${last} with hash ${hash}`;
}
