import { setImmediate as nextTurn } from 'node:timers/promises';

/** Goes through a long list, and lets decisions go between its steps. */
export async function inSteps<Page>(steps: Generator<void, Page>): Promise<Page> {
  let step = steps.next();
  while (step.done !== true) {
    await nextTurn();
    step = steps.next();
  }
  return step.value;
}
