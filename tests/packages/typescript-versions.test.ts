import { afterAll, beforeAll, expect, it } from 'vitest';
import { compilerOf } from './compiler-of.ts';
import { sdkProgram, typedModule } from './consumers.ts';
import { EmptyProject, packAll } from './empty-project.ts';

const all = new EmptyProject();
const sdk = new EmptyProject();

beforeAll(async () => {
  const tarballs = await packAll();
  await all.install([...tarballs.values()]);
  await sdk.install([tarballs.get('@reeve/sdk') ?? '@reeve/sdk']);
}, 600_000);

afterAll(() => {
  for (const each of [all, sdk]) each[Symbol.dispose]();
});

/** The least version of TypeScript that each is for, as docs/releasing.md says, and the one of this repository. */
it.for([
  { version: '5.6', resolution: 'nodenext', of: 'the SDK', installed: sdk, program: sdkProgram },
  { version: '5.6', resolution: 'bundler', of: 'the SDK', installed: sdk, program: sdkProgram },
  { version: '5.7', resolution: 'nodenext', of: 'every package', installed: all, program: typedModule },
  { version: 'our', resolution: 'nodenext', of: 'every package', installed: all, program: typedModule },
  { version: 'our', resolution: 'bundler', of: 'every package', installed: all, program: typedModule },
])(
  'compiles in strict programs that use $of, by TypeScript $version and $resolution',
  { timeout: 300_000 },
  async (how) => {
    const tsc = await compilerOf(how.version);
    expect(await how.installed.compile(tsc, how.program, how.resolution)).toBe('');
  },
);
