import type { PolicyProblem } from '@reeve/core';
import { describeProblem, messageOf } from '@reeve/core';
import { StartError } from '../start-error.ts';
import type { Health, Part } from '../telemetry/health.ts';
import type { Logger } from '../telemetry/logger.ts';

/** A file of issuers that is read at start, and again when it changes. */
export interface FollowedFile {
  load(): Promise<readonly PolicyProblem[]>;
  watch(changed: () => void): void;
}

/** Loads a file of issuers, where a mistake is final, and again whenever it changes, where the former ones stay. */
export async function followIssuers(
  part: Extract<Part, 'subjects' | 'workloads'>,
  file: FollowedFile,
  health: Health,
  logger: Logger,
): Promise<void> {
  const problems = await file.load();
  if (problems.length > 0) throw new StartError(inOneLine(problems), 2);
  let reloading = Promise.resolve();
  const reload = async () => {
    try {
      const found = await file.load();
      if (found.length === 0) {
        health.ok(part);
        logger.info(`the file of ${part} was read again`);
        return;
      }
      health.set(part, { status: 'degraded', detail: inOneLine(found) });
      logger.error({ problems: found.map(describeProblem) }, `the file of ${part} has errors; the former one holds on`);
    } catch (error) {
      health.set(part, { status: 'degraded', detail: messageOf(error) });
      logger.error({ err: error }, `the file of ${part} could not be read again; the former one holds on`);
    }
  };
  file.watch(() => {
    reloading = reloading.then(reload);
  });
}

function inOneLine(problems: readonly PolicyProblem[]): string {
  const [first, ...more] = problems.map(describeProblem);
  return more.length === 0 ? (first ?? '') : `${first} (and ${more.length} more)`;
}
