import type { TestSpecification } from 'vitest/node';
import { BaseSequencer } from 'vitest/node';

/**
 * A file that takes a minute and starts last keeps one worker busy while the others have nothing left to do. So the files
 * that take a moment fill the end.
 */
export class ShortFilesLast extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    return sorted.toSorted((a, b) => Number(takesAMoment(a)) - Number(takesAMoment(b)));
  }
}

/** The tests beside the sources start no gateway. Those of adapters may start a database or a broker. */
function takesAMoment({ moduleId }: TestSpecification): boolean {
  return moduleId.includes('/packages/') && moduleId.includes('/src/') && !moduleId.includes('/adapters/');
}
