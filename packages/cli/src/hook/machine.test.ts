import { dirname } from 'node:path';
import { expect, test } from 'vitest';
import { machineOf } from './machine.ts';
import type { OwnPlaces } from './own-places.ts';
import { withOwnPlaces } from './own-places.ts';
import { planShell } from './plan-actions.ts';

const machine = machineOf({ home: '/home/ada', path: '/home/ada/.reeve' }, {});

/** Whether the hook says that a line would change its program. */
function changes(command: string): boolean {
  const actions = planShell(command, { ...machine, cwd: '/workspace' });
  return withOwnPlaces(actions, machine.own as OwnPlaces).some(({ note }) => note?.includes('program of this hook'));
}

const node = process.execPath;

test.each([
  `cp fake ${node}`,
  `echo x > ${node}`,
  `mv fake ${node}`,
  `mv ${dirname(node)} old; mv fake ${dirname(node)}`,
  `mv ${dirname(dirname(node))} old`,
  `cp -r fake ${dirname(node)}`,
])('%s changes the Node that the hook runs on', (command) => {
  expect(changes(command)).toBe(true);
});

test.each([`${node} x.js`, `env ${node} x.js`, `ls -l ${node}`, `cp ${node} copy`, `touch ${dirname(node)}/x`])(
  '%s does not',
  (command) => {
    expect(changes(command)).toBe(false);
  },
);
