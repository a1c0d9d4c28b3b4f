const { Script } = process.getBuiltinModule('node:vm');

/** The work took longer than it may. */
export class TookTooLong extends Error {}

const place = '__reeveWork';
const script = new Script(`${place}()`);

/**
 * Does work on this thread, and ends it after a while, whatever it does: another thread watches the clock. A timer of this
 * thread would wait until the work is done.
 */
export function withinTime<Result>(ms: number, work: () => Result): Result {
  Object.defineProperty(globalThis, place, { value: work, configurable: true });
  try {
    return script.runInThisContext({ timeout: ms }) as Result;
  } catch (error) {
    const isOver = error instanceof Error && 'code' in error && error.code === 'ERR_SCRIPT_EXECUTION_TIMEOUT';
    throw isOver ? new TookTooLong(`its analysis took longer than ${ms} ms`) : error;
  } finally {
    Reflect.deleteProperty(globalThis, place);
  }
}
