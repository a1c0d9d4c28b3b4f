import type { ProgramData } from '../entry/executable.ts';
import type { Step } from '../entry/steps.ts';
import { unlessDone } from '../entry/unless-done.ts';
import type { Use } from './rights.ts';
import { handledRights, handledScopes, rightsFor } from './rights.ts';

/** A path inside, and what it may be used for. All that no rule allows is refused. */
export interface LockRule {
  readonly path: string;
  readonly use: Use;
  readonly isFolder: boolean;
  /** Without this rule the program would not work, so it does not start. */
  readonly isNeeded: boolean;
}

export interface Lock {
  /** The version of Landlock. */
  readonly version: number;
  readonly rules: readonly LockRule[];
}

const fromHere = -100;
const pathAndCloseOnExec = 0x28_0000n;
const noLinks = 4n;
const ruleBeneathPath = 1;
const streams = ['/proc/self/fd/0', '/proc/self/fd/1', '/proc/self/fd/2'];

/** Steps by which a program locks itself up. */
export function lockSteps({ version, rules }: Lock, data: ProgramData): readonly Step[] {
  const fail = unlessDone('the kernel refuses the second lock on files (Landlock)', data);
  const ruleset = data.add(numbers([handledRights(version), 0n, handledScopes(version)]));
  const strictly = data.add(numbers([pathAndCloseOnExec, 0n, noLinks]));
  const byLinks = data.add(numbers([pathAndCloseOnExec, 0n, 0n]));
  const allow = (path: string, how: number, allowed: bigint, orElse: readonly Step[]): readonly Step[] => {
    const rule = data.add(numbers([allowed, 0n]));
    return [
      { do: 'call', name: 'openat2', args: [fromHere, data.text(path), how, 24] },
      ...orElse,
      {
        do: 'unless error',
        steps: [
          { do: 'keep', as: 'opened' },
          { do: 'store', kept: 'opened', address: rule + 8 },
          { do: 'call', name: 'landlock_add_rule', args: [{ kept: 'ruleset' }, ruleBeneathPath, rule, 0] },
          ...orElse,
          { do: 'call', name: 'close', args: [{ kept: 'opened' }] },
        ],
      },
    ];
  };
  return [
    { do: 'call', name: 'landlock_create_ruleset', args: [ruleset, 24, 0] },
    fail,
    { do: 'keep', as: 'ruleset' },
    ...rules.flatMap(({ path, use, isFolder, isNeeded }) =>
      allow(path, strictly, rightsFor(use, isFolder, version), isNeeded ? [fail] : []),
    ),
    // A terminal or a named pipe can be opened again by the descriptor that a program has anyway. Others need no rule.
    ...streams.flatMap((path) => allow(path, byLinks, rightsFor('change', false, version), [])),
    { do: 'call', name: 'landlock_restrict_self', args: [{ kept: 'ruleset' }, 0] },
    fail,
  ];
}

function numbers(values: readonly bigint[]): Buffer {
  const bytes = Buffer.alloc(values.length * 8);
  for (const [index, value] of values.entries()) bytes.writeBigUInt64LE(value, index * 8);
  return bytes;
}
