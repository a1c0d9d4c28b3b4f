import type { RouteOutput, Routes } from '@reeve/contract/http';
import { CliError } from '../cli-error.ts';
import type { GatewayClient } from '../http/gateway-client.ts';
import { ProblemError } from '../http/problem-error.ts';
import { cleanText } from '../output/clean-text.ts';
import type { Colour } from '../output/colour.ts';
import { hasColours, paint } from '../output/colour.ts';
import { counted } from '../output/duration.ts';
import type { Shell } from '../shell.ts';
import { lineDiff, nearChanges } from './line-diff.ts';
import type { OfflineDocument } from './offline.ts';

type StoredPolicy = RouteOutput<Routes['getPolicy']>;

/** The effect of pushing one document. */
export interface PlannedPush {
  /** An existing document has its namespace in its name: a tenant's is <org>/<name> or <org>/<team>/<name>. */
  readonly name: string;
  readonly source: string;
  readonly change: 'new' | 'changed' | 'unchanged';
  /** The version it was compared with. 0 if there is none. */
  readonly baseVersion: number;
  readonly before: string;
}

/** Compares documents with those of the gateway. A document that the gateway has in a file cannot be pushed. */
export async function planPush(
  client: GatewayClient,
  documents: readonly OfflineDocument[],
): Promise<readonly PlannedPush[]> {
  const plan: PlannedPush[] = [];
  for (const { name, source } of documents) {
    const known = await find(client, name);
    if (known?.origin === 'file') {
      throw new CliError(
        `the gateway has "${name}" in its file ${known.file ?? ''}, which alone can change it: nothing was pushed. Change the file, or give the document another name`,
      );
    }
    const change = known === undefined ? 'new' : known.source.trim() === source.trim() ? 'unchanged' : 'changed';
    plan.push({
      name: known?.name ?? name,
      source,
      change,
      baseVersion: known?.version ?? 0,
      before: known?.source ?? '',
    });
  }
  return plan;
}

async function find(client: GatewayClient, name: string): Promise<StoredPolicy | undefined> {
  try {
    return await client.call('getPolicy', { params: { name } });
  } catch (error) {
    if (error instanceof ProblemError && error.problem.code === 'policy_not_found') return undefined;
    throw error;
  }
}

/** The changes, document by document, with the lines that differ. */
export function planText(shell: Shell, plan: readonly PlannedPush[]): string {
  const colours = hasColours(shell);
  return plan
    .flatMap(({ name, change, source, before }) => {
      if (change === 'unchanged') return [`${name}: as it is in force`];
      if (change === 'new') return [`${name}: new, ${counted(source.trim().split('\n').length, 'line')}`];
      const lines = nearChanges(lineDiff(before, source)).map((line) => {
        if (line === 'gap') return '  …';
        const [mark, colour] = marks[line.kind];
        const text = `  ${mark} ${cleanText(line.text)}`.trimEnd();
        return colours ? paint(text, colour) : text;
      });
      return [[`${name}: changed`, ...lines].join('\n')];
    })
    .join('\n');
}

const marks: Readonly<Record<'removed' | 'added' | 'same', readonly [string, Colour | undefined]>> = {
  removed: ['-', 'red'],
  added: ['+', 'green'],
  same: [' ', undefined],
};
