import { hash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import type { Verdict } from '@reeve/contract/audit';
import { EntryVerifier, judgeLog } from '@reeve/contract/audit';
import { linesOf } from '../audit/lines-of.ts';
import type { Jwks } from '../audit/signed-cut.ts';
import { isSigned } from '../audit/signed-cut.ts';
import { CliError } from '../cli-error.ts';
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
    'Without FILE it reads the log of the gateway, which needs the scope read and a credential that is bound to no tenant. Of a filtered export, or a tenant’s, it checks each entry’s own hash, says that the chain was not checkable, and ends with 0.',
    'Data: {result: unbroken|broken|not_checkable, entries, first_seq, last_seq, last_hash, cut_at, broken_seq, why}.',
  ],
  args: { file: optional('An export in JSON lines; "-" for standard input.', 'file') },
  options: {
    complete: flag('FILE must be the whole log: whatever is missing is broken.'),
    jwks: text(
      'FILE',
      'The keys that have signed cuts, as /.well-known/jwks.json had them. Default: those of the gateway.',
      {
        completes: 'file',
      },
    ),
  },
  examples: [
    ['reeve audit verify', 'the log of the gateway, as it is now'],
    ['reeve audit verify audit.jsonl --complete', 'an export that should be the whole log'],
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
  readonly options: { readonly complete: boolean; readonly jwks: string | undefined };
};

async function verifyOnline(input: VerifyInput, shell: Shell): Promise<Verdict> {
  return verifyGateway(shell, await connect(shell, input), input.globals.timeout * 1000);
}

/** Verifies the log of a gateway as it is now. What a tenant sees of it is a part. */
export async function verifyGateway(shell: Shell, client: GatewayClient, timeoutMs: number): Promise<Verdict> {
  const { org_id: org } = await client.call('me', { method: 'GET', path: '/api/v1/auth/me' });
  const answer = await client.open('exportLogs', {
    method: 'GET',
    path: '/api/v1/logs/export',
    query: { format: 'jsonl' },
  });
  const findings = await verifyLines(shell, readChunks(answer.body, client.apiUrl, timeoutMs));
  const keys = await keysOf(client);
  return judgeLog(findings, (cut) => isSigned(cut, keys), org === null);
}

async function verifyFile(input: VerifyInput, shell: Shell, file: string): Promise<Verdict> {
  const findings = await verifyStored(shell, file);
  const needsKeys = findings.cuts.length > 0 && findings.first?.seq !== 1;
  const keys = needsKeys ? await keysFor(input, shell) : [];
  return judgeLog(findings, (cut) => isSigned(cut, keys), input.options.complete);
}

async function verifyLines(shell: Shell, source: AsyncIterable<Buffer>): Promise<EntryVerifier> {
  const verifier = new EntryVerifier();
  const work = async () => {
    for await (const line of linesOf(source)) {
      if (verifier.entries === 0 && line.startsWith('seq,at,')) {
        throw new CliError('a chain cannot be verified from CSV; export JSON lines');
      }
      const entry = verifier.read(line);
      if (entry !== undefined) verifier.take(entry, hash('sha256', entry.canonical));
      if (verifier.broken !== undefined) break;
    }
  };
  await withProgress(shell, () => `Verifying: ${counted(verifier.entries, 'entry', 'entries')}`, work());
  return verifier;
}

/** Reading a file, with its errors in words. */
async function verifyStored(shell: Shell, file: string): Promise<EntryVerifier> {
  try {
    return await verifyLines(shell, (file === '-' ? shell.stdin : createReadStream(file)) as AsyncIterable<Buffer>);
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
      `the log was cut, and the keys that could vouch for it cannot be had: ${why}. Name a file with --jwks`,
      { cause: error },
    );
  }
}

async function keysOf(client: GatewayClient): Promise<Jwks> {
  return (await client.call('jwks', { method: 'GET', path: '/.well-known/jwks.json' })).keys;
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

export function verdictText(verdict: Verdict): string {
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
