const goneCodes: ReadonlySet<unknown> = new Set(['ENOENT', 'ESRCH', 'ENODEV']);

/**
 * What the kernel says of a process or a group; undefined once that is gone. An error of another kind, such as no descriptor
 * left to ask with, says nothing about it, and is thrown.
 */
export function unlessGone<Said>(ask: () => Said): Said | undefined {
  try {
    return ask();
  } catch (error) {
    if (goneCodes.has((error as NodeJS.ErrnoException).code)) return undefined;
    throw error;
  }
}
