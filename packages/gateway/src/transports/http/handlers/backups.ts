import type { MadeBackup, Principal } from '@reeve/core';
import { ReeveError, messageOf } from '@reeve/core';
import type { Handlers } from '../handler.ts';
import { RawAnswer } from '../handler.ts';
import { patienceMs, patientStream } from '../patient-stream.ts';
import { HttpError } from '../problem.ts';

/** A backup that is ready to be sent. Disposing of it frees its room. */
interface ReadyBackup extends AsyncDisposable {
  readonly manifest: { readonly created_at: string; readonly head: MadeBackup['head'] };
  readonly bytes: number;
  readonly sha256: string;
  stream(): AsyncIterable<Buffer>;
}

/** The slowest line that a backup is sent over: 1 Mbit/s. Meanwhile nobody else can make one. */
const leastBytesPerSec = 125_000;

/**
 * One backup at a time: each needs room for a copy of the store. `backup` is a text if this store has none. `onTaken`
 * hears of the moment that a backup shows once its last byte has left.
 */
export function backupHandlers(
  backup: (() => Promise<ReadyBackup>) | string,
  record: (by: Principal, made: MadeBackup) => Promise<void>,
  onTaken: (at: number) => void,
  pace = { patienceMs, leastBytesPerSec },
): Pick<Handlers, 'createBackup'> {
  let isRunning = false;
  return {
    createBackup: async (_input, { principal }) => {
      if (typeof backup === 'string') throw new HttpError('backup_unsupported', backup);
      if (isRunning) throw new HttpError('backup_running', 'a backup is being made already; try again when it is done');
      isRunning = true;
      const free = () => (isRunning = false);
      try {
        const ready = await making(backup);
        const { manifest, bytes, sha256 } = ready;
        // Nothing leaves before the log says so.
        await record(principal, { head: manifest.head, bytes, sha256 }).catch(async (error: unknown) => {
          await ready[Symbol.asyncDispose]();
          throw error;
        });
        const done = () => {
          if (stream.readableEnded) onTaken(Date.parse(manifest.created_at));
          void ready[Symbol.asyncDispose]().then(free, free);
        };
        const stream = patientStream(ready.stream(), pace.patienceMs, done, pace.leastBytesPerSec);
        const name = `reeve-${manifest.created_at.replaceAll(/[-:]|\.\d+/g, '')}.backup`;
        return new RawAnswer('application/gzip', stream, {
          'content-disposition': `attachment; filename="${name}"`,
          'content-length': String(bytes),
          'cache-control': 'no-store',
        });
      } catch (error) {
        free();
        throw error;
      }
    },
  };
}

async function making(backup: () => Promise<ReadyBackup>): Promise<ReadyBackup> {
  try {
    return await backup();
  } catch (error) {
    throw new ReeveError('store_unavailable', `the backup could not be made: ${messageOf(error)}`);
  }
}
