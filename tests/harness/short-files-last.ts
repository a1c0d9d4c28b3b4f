import type { TestSpecification } from 'vitest/node';
import { BaseSequencer } from 'vitest/node';

/**
 * A file that takes a minute and starts last keeps one worker busy while the others have nothing left to do. So the files
 * that take a moment fill the end. The projects stay together, because a worker serves one at a time.
 */
export class ShortFilesLast extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    return sorted.toSorted((a, b) => placeOf(a) - placeOf(b));
  }
}

function placeOf({ project, moduleId }: TestSpecification): number {
  if (project.name === 'by grpc-js') return 0;
  return takesAMoment(moduleId) ? 2 : 1;
}

/** The tests beside the sources start no gateway. Those of adapters may start a database or a broker. */
function takesAMoment(path: string): boolean {
  return path.includes('/packages/') && path.includes('/src/') && !path.includes('/adapters/');
}
