import type { ProgramData } from '../entry/executable.ts';
import type { Step } from '../entry/steps.ts';
import { unlessDone } from '../entry/unless-done.ts';
import { descriptors } from '../jail/bubblewrap-line.ts';
import type { Use } from './rights.ts';
import { handledRights, handledScopes, leastVersion, newerVersions, newestVersion, rightsFor } from './rights.ts';

/** A path inside, and what it may be used for. All that no rule allows is refused. */
export interface LockRule {
  readonly path: string;
  readonly use: Use;
  readonly isFolder: boolean;
  /** Without this rule the program would not work, so it does not start. */
  readonly isNeeded: boolean;
}

const fromHere = -100;
const pathAndCloseOnExec = 0x28_0000;
const noLinks = 4;
const ruleBeneathPath = 1;
/** Those of the program. The first program has another standard error. */
const streams = [0, 1, descriptors.stderr].map((descriptor) => `/proc/self/fd/${descriptor}`);

/** Asks for the version of Landlock. Where there is none, the result is an error. */
export const askVersion: Step = { do: 'call', name: 'landlock_create_ruleset', args: [0, 0, 1] };

/**
 * Steps by which a program locks itself up, where the kernel has a version that is of use. They begin with what the newest known
 * version has, and take back what an older one would refuse.
 */
export function lockSteps(rules: readonly LockRule[], data: ProgramData): readonly Step[] {
  const fail = unlessDone('the kernel refuses the second lock on files (Landlock)', data);
  const ofVersions = new Versions(data);
  const ruleset = ofVersions.add('ruleset', (version) => [handledRights(version), 0, handledScopes(version)]);
  const strictly = data.add(numbers([pathAndCloseOnExec, 0, noLinks]));
  const byLinks = data.add(numbers([pathAndCloseOnExec, 0, 0]));
  const known = new Map<string, readonly Step[]>();
  /** Allows what has just been opened. Each use has one place in memory for its rule, one after the other. */
  const allowed = ({ use, isFolder, isNeeded }: Omit<LockRule, 'path'>): readonly Step[] => {
    const key = `${use} ${isFolder} ${isNeeded}`;
    const rule = ofVersions.add(`${use} ${isFolder}`, (version) => [rightsFor(use, isFolder, version), 0]);
    const orElse = isNeeded ? [fail] : [];
    const steps = known.get(key) ?? [
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
    known.set(key, steps);
    return steps;
  };
  const allow = (rule: LockRule, how: number): readonly Step[] => [
    { do: 'call', name: 'openat2', args: [fromHere, data.text(rule.path), how, 24] },
    ...allowed(rule),
  ];
  const opened: readonly Step[] = [
    ...rules.flatMap((rule) => allow(rule, strictly)),
    // A terminal or a named pipe can be opened again by the descriptor that a program has anyway. Others need no rule.
    ...streams.flatMap((path) => allow({ path, use: 'change', isFolder: false, isNeeded: false }, byLinks)),
  ];
  const locked: readonly Step[] = [
    ...ofVersions.takeBack,
    { do: 'call', name: 'landlock_create_ruleset', args: [ruleset, 24, 0] },
    fail,
    { do: 'keep', as: 'ruleset' },
    ...opened,
    { do: 'call', name: 'landlock_restrict_self', args: [{ kept: 'ruleset' }, 0] },
    fail,
  ];
  return [askVersion, { do: 'unless less', than: leastVersion, steps: locked }];
}

interface OfVersion {
  readonly address: number;
  readonly of: (version: number) => readonly number[];
}

/** Numbers that depend on the version. */
class Versions {
  readonly #data: ProgramData;
  readonly #added = new Map<string, OfVersion>();

  constructor(data: ProgramData) {
    this.#data = data;
  }

  /** Returns where they stand, for the newest version at first. */
  add(name: string, of: OfVersion['of']): number {
    const known = this.#added.get(name)?.address;
    const address = known ?? this.#data.add(numbers(of(newestVersion)));
    this.#added.set(name, { address, of });
    return address;
  }

  /** With the version as the result: has the numbers be what they are for it. */
  get takeBack(): readonly Step[] {
    return newerVersions.map((version) => ({
      do: 'if less',
      than: version,
      steps: [...this.#added.values()].flatMap(({ address, of }): readonly Step[] => {
        const [now, before] = [of(version), of(version - 1)];
        return before.flatMap((value, index): readonly Step[] =>
          value === now[index] ? [] : [{ do: 'set', address: address + 8 * index, value }],
        );
      }),
    }));
  }
}

/** Numbers of 64 bits that are below 32 bits. */
function numbers(values: readonly number[]): Buffer {
  const bytes = Buffer.alloc(values.length * 8);
  for (const [index, value] of values.entries()) bytes.writeUInt32LE(value, index * 8);
  return bytes;
}
