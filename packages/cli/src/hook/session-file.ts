import { join } from 'node:path';
import type { HookHostName } from '@reeve/contract/names';
import { isObject } from '../is-object.ts';
import { codeOf } from '../context/private-file.ts';
import type { ReeveFolder } from '../context/reeve-folder.ts';
import { sha256 } from './operation-ids.ts';

const { chmodSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } =
  process.getBuiltinModule('node:fs');

/** A tool use that the gateway was asked about and that has not ended. */
export interface OpenUse {
  /** The id of the tool use. */
  readonly key: string;
  readonly fingerprint: string;
  /** The second parts of its operation ids. Null where that operation is over, so another one must be asked about. */
  readonly spans: readonly (string | null)[];
  /**
   * `asking`: the process of this id waits for an answer. `held`: it waits for an approval and did not happen yet.
   * `failed`: nobody was told the answer, so it did not happen. `running`: it was allowed. `spoilt`: it brought back what
   * the model must not read, and the host could not take it away, so that the session is over. `ended`: its result was
   * judged and its end reported, which the same hook learns if it is installed twice.
   */
  readonly state: 'asking' | 'held' | 'failed' | 'running' | 'spoilt' | 'ended';
  readonly pid: number;
  /** The agent inside of the session. */
  readonly agent: string;
  /** Whether a more precise event of the same tool use may follow. */
  readonly isAnnounced: boolean;
  /** Those of its operations whose result must be judged. */
  readonly judged?: readonly string[] | undefined;
  /** The digest of the result, if it has ended. */
  readonly result?: string | undefined;
}

const mostUses = 1000;
const mostBytes = 2_000_000;
const forgottenMs = 14 * 86_400_000;

/** What the hooks of one session tell each other, because each is a process of its own. It holds no secrets. */
export class SessionFile {
  readonly #folder: string;
  readonly #path: string;

  constructor(reeve: ReeveFolder, host: HookHostName, session: string) {
    this.#folder = join(reeve.path, 'hooks');
    this.#path = join(this.#folder, `${host}-${sha256(session).slice(0, 32)}.json`);
    mkdirSync(this.#folder, { recursive: true, mode: 0o700 });
    if ((statSync(this.#folder).mode & 0o077) !== 0) chmodSync(this.#folder, 0o700);
  }

  /** Changes the open tool uses under a lock. Whoever reads sees the old ones or the new ones, never a part. */
  async change<Result>(
    work: (uses: readonly OpenUse[]) => { uses: readonly OpenUse[]; result: Result },
  ): Promise<Result> {
    const { withLock } = await import('../context/file-lock.ts');
    return withLock(`${this.#path}.lock`, async () => {
      const before = this.read();
      const { uses, result } = work(before);
      if (uses !== before) this.#write(uses);
      return result;
    });
  }

  read(): readonly OpenUse[] {
    try {
      if (statSync(this.#path).size > mostBytes) return [];
      const parsed: unknown = JSON.parse(readFileSync(this.#path, 'utf8'));
      return isObject(parsed) && Array.isArray(parsed['uses']) ? parsed['uses'].filter(isOpenUse) : [];
    } catch (error) {
      if (codeOf(error) === 'ENOENT' || error instanceof SyntaxError) return [];
      throw error;
    }
  }

  /** Removes what sessions left behind that ended without a word. */
  removeForgotten(now: number): void {
    for (const name of readdirSync(this.#folder).slice(0, mostUses)) {
      const path = join(this.#folder, name);
      try {
        if (now - statSync(path).mtimeMs > forgottenMs) rmSync(path, { force: true });
      } catch {
        // Another process was faster.
      }
    }
  }

  #write(uses: readonly OpenUse[]): void {
    if (uses.length === 0) return rmSync(this.#path, { force: true });
    const draft = `${this.#path}.${process.pid}.tmp`;
    const [spoilt, others] = [uses.filter(isSpoilt), uses.filter((use) => !isSpoilt(use))];
    const kept = [...spoilt.slice(0, 1), ...others.slice(1 - mostUses)];
    writeFileSync(draft, JSON.stringify({ uses: kept }), { mode: 0o600 });
    renameSync(draft, this.#path);
  }
}

export function isSpoilt({ state }: OpenUse): boolean {
  return state === 'spoilt';
}

function isOpenUse(value: unknown): value is OpenUse {
  if (!isObject(value)) return false;
  const { key, fingerprint, spans, state, pid, agent, judged = [], result = '' } = value;
  const isSpan = (span: unknown) => span === null || typeof span === 'string';
  return (
    [key, fingerprint, agent, result].every((text) => typeof text === 'string') &&
    ['asking', 'held', 'failed', 'running', 'spoilt', 'ended'].includes(String(state)) &&
    typeof pid === 'number' &&
    Array.isArray(spans) &&
    spans.every(isSpan) &&
    Array.isArray(judged) &&
    judged.every((span) => typeof span === 'string')
  );
}
