import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { resolve } from 'node:path';
import { expect, test } from 'vitest';

const script = `
import { Voice } from '${resolve('packages/cli/src/run/voice.ts')}';
const voice = new Voice();
for (let nth = 0; nth < Number(process.argv[1]); nth++) voice.say('line ' + nth + ' ' + 'x'.repeat(1000));
setTimeout(async () => {
  console.log('alive');
  await voice[Symbol.asyncDispose]();
  process.exit(0);
}, 1);
`;

function speaking(lines: number) {
  return spawn(process.execPath, ['--input-type=module-typescript', '-e', script, String(lines)], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
}

test('what is said arrives, whole and in order, before the process ends', async () => {
  const child = speaking(20);
  let said = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => (said += text));
  const [code] = (await once(child, 'close')) as [number];
  expect(code).toBe(0);
  expect(said.match(/^line \d+/gm)).toEqual(Array.from({ length: 20 }, (_, nth) => `line ${nth}`));
});

test('nobody who does not listen holds it up', async () => {
  const child = speaking(5000);
  child.stdout.resume();
  const [code] = (await once(child, 'exit')) as [number];
  expect(code).toBe(0);
  child.stderr.destroy();
});
