import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { workspaces } from '../../scripts/packages/public-packages.ts';
import { unknownVariables } from './deploy-files.ts';

const file = readFileSync('deploy/Dockerfile', 'utf8').replaceAll('\\\n', ' ');
const final = file.slice(file.lastIndexOf('\nFROM ') + 1);

/** What follows an instruction of the final stage. */
function given(instruction: string): string {
  return new RegExp(`^${instruction} (.+)$`, 'm').exec(final)?.[1]?.replaceAll(/\s+/g, ' ') ?? '';
}

test('the image runs as a number that is not root, and every instruction that starts something has the exec form', () => {
  expect(given('USER')).toMatch(/^[1-9]\d+:[1-9]\d+$/);
  expect(given('COPY --from=build --chown=\\S+')).toBe('/image/var/lib/reeve /var/lib/reeve');
  expect(final).toContain(`--chown=${given('USER')} `);
  for (const command of [given('ENTRYPOINT'), given('CMD'), /CMD (\[.*\])/.exec(given('HEALTHCHECK'))?.[1] ?? '']) {
    expect(JSON.parse(command)).toEqual(expect.arrayContaining([expect.any(String)]));
  }
  expect(given('STOPSIGNAL')).toBe('SIGTERM');
});

test('the image has tags on its bases, names settings that exist, and keeps its data in its volume', () => {
  const bases = [...file.matchAll(/^FROM (?:--platform=\S+ )?(\S+)/gm)].map(([, base = '']) => base);
  expect(bases.length).toBe(2);
  for (const base of bases) expect(base).toMatch(/^[a-z]+:[\w.-]+$/);
  expect(unknownVariables(file)).toEqual([]);
  expect(/SVC_DATA_DIR=(\S+)/.exec(final)?.[1]?.startsWith(`${given('VOLUME')}/`)).toBe(true);
});

test('the manifest of every package is copied before the sources, so that packages are installed only when one changes', () => {
  const [before = '', after = ''] = file.split('\nCOPY . .\n');
  expect(before).toMatch(/^COPY package\.json package-lock\.json \.npmrc \.\/$/m);
  for (const { folder } of workspaces())
    expect(before).toContain(`\nCOPY packages/${folder}/package.json packages/${folder}/\n`);
  expect(before).toMatch(/\nRUN npm install .*--ignore-scripts$/m);
  expect(after).not.toContain('npm install');
  expect(after).toMatch(/^RUN npm run prepare$/m);
});

test('nothing runs on the target platform while the image is built, so no emulation is needed', () => {
  expect(file).toContain('FROM --platform=$BUILDPLATFORM ');
  expect(final).not.toMatch(/^RUN /m);
});
