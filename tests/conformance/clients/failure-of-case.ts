import { caseWithinMs } from '../interop-cases.ts';

/** What went wrong in a case; undefined if it passed. */
export async function failureOfCase(run: () => Promise<void>): Promise<string | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no result within ${caseWithinMs / 1000} s`)), caseWithinMs);
  });
  try {
    await Promise.race([run(), late]);
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message.split('\n')[0] : String(error);
  } finally {
    clearTimeout(timer);
  }
}
