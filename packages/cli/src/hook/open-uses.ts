import type { AfterTool, BeforeTool } from './hook-event.ts';
import { fingerprintOf, newToolUse, spansOf } from './operation-ids.ts';
import type { OpenUse } from './session-file.ts';

type Uses = readonly OpenUse[];

/** A tool use that is asked about now, with an operation id for each of its actions. */
export interface AskedUse extends OpenUse {
  readonly spans: readonly string[];
  /** Whether it waited for an approval before. */
  readonly wasHeld: boolean;
}

/**
 * The tool use under which an event is asked about. An equal one of the same session that waits for an approval is asked
 * about as the same operations, so that the approval counts. Whoever takes it has it alone, so it counts once.
 */
export function beginUse(
  uses: Uses,
  event: BeforeTool,
  isAlive: (pid: number) => boolean,
): { uses: Uses; result: AskedUse } {
  const fingerprint = fingerprintOf(event.actions);
  const equal = uses.filter(
    (use) => use.state !== 'ended' && use.fingerprint === fingerprint && use.spans.length === event.actions.length,
  );
  const announced = event.isRepeated
    ? equal.find(({ state, isAnnounced }) => state === 'running' && isAnnounced)
    : undefined;
  const known =
    equal.find(({ key }) => key === event.toolUse) ??
    announced ??
    equal.find(({ state, pid }) => state === 'held' || state === 'failed' || (state === 'asking' && !isAlive(pid)));
  const key = event.toolUse ?? announced?.key ?? newToolUse();
  const fresh = spansOf(key, event.actions.length);
  const use: AskedUse = {
    key,
    fingerprint,
    spans: fresh.map((span, index) => known?.spans[index] ?? span),
    state: 'asking',
    pid: process.pid,
    agent: event.agent,
    isAnnounced: !event.isRepeated,
    wasHeld: known?.state === 'held',
  };
  return { uses: [...uses.filter((other) => other !== known && other.key !== key), use], result: use };
}

/** The asked use gets its answer. Undefined removes it. */
export function settleUse(uses: Uses, asked: AskedUse, settled: OpenUse | undefined): Uses {
  const others = uses.filter(({ key }) => key !== asked.key);
  return settled === undefined ? others : [...others, settled];
}

/** The session as one that is over. */
export function spoil(uses: Uses, key: string): Uses {
  const spoilt = { fingerprint: '', spans: [], state: 'spoilt', pid: 0, agent: '', isAnnounced: false } as const;
  return [...uses, { ...spoilt, key }];
}

/** The tool use that has ended: by its id, or the oldest one that did the same. */
export function endedUse(uses: Uses, event: AfterTool): OpenUse | undefined {
  const running = uses.filter(({ state }) => state === 'running');
  return running.find(isOf(event));
}

/** Whether this very result of a tool use was judged before, and its end reported. */
export function wasJudged(uses: Uses, event: AfterTool, result: string): boolean {
  return uses.some((use) => use.state === 'ended' && use.result === result && isOf(event)(use));
}

/** A tool use whose result was judged. */
export function asEnded(use: OpenUse, result: string): OpenUse {
  return { ...use, spans: [], judged: [], state: 'ended', result };
}

function isOf({ toolUse, actions }: AfterTool): (use: OpenUse) => boolean {
  if (toolUse !== undefined) return ({ key }) => key === toolUse;
  const wanted = fingerprintOf(actions);
  return ({ fingerprint }) => fingerprint === wanted;
}
