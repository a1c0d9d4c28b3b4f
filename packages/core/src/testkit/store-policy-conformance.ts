import { describe, expect, test } from 'vitest';
import type { Change, Store } from '../store.ts';
import { setsKept, versionsKept } from '../policy/store/policy-version.ts';
import type { PolicyVersion } from '../policy/store/policy-version.ts';

export const sampleVersion: PolicyVersion = {
  name: 'starter.eu_1-a',
  version: 2,
  source: 'name: starter.eu_1-a\r\nrules:\n  - {effect: deny, tools: ["rm \\"-rf\\"", "naïve 🦊"]}\n# \u0000 \u0001',
  scope: 'agent:acme//bot',
  savedAt: 1_700_000_000_123,
  savedBy: { id: 'abcdefghijkl', kind: 'api_key', label: 'ci "deploy"' },
  note: "it's\nbetter",
  width: 'team',
};

/** A version, with the rest from the sample. */
export function version(name: string, number: number, source: string | null = `# ${number}`): PolicyVersion {
  return { ...sampleVersion, name, version: number, source, scope: 'global' };
}

export function saved(...versions: readonly PolicyVersion[]): Change[] {
  return versions.map((each) => ({ kind: 'policy_saved', saved: each }));
}

export function setSaved(name: string, ...texts: readonly string[]): Change {
  const sources = texts.map((text, index) => ({ file: `${index}.yaml`, text, hash: `hash of ${text}` }));
  return { kind: 'policy_set_saved', set: { version: name, at: 7, sources } };
}

/** What every store must do with policies, beside restoring the newest. */
export function policyConformance(open: () => Store): void {
  const write = async (...changes: readonly Change[]) => {
    await open().commit({ entries: [], changes });
  };
  const numbers = async (name: string) => (await open().policies.outline(name)).map(({ version: number }) => number);

  describe('versions of documents', () => {
    test('are listed newest first, each with its scope, and found by their numbers', async () => {
      const gone = { ...version('a', 2, null), scope: 'org:acme' };
      await write(...saved(version('a', 1), gone, version('ab', 1)));
      await write(...saved(version('a', 3)));
      const { policies } = open();
      expect(await policies.outline('a')).toEqual([
        { version: 3, scope: 'global' },
        { version: 2, scope: 'org:acme' },
        { version: 1, scope: 'global' },
      ]);
      expect(await policies.versions('a', [1, 2, 9])).toEqual([gone, version('a', 1)]);
      expect(await policies.outline('b')).toEqual([]);
      expect(await policies.versions('b', [1])).toEqual([]);
    });

    test('are brought back as they were', async () => {
      await write(...saved(sampleVersion));
      expect(await open().policies.versions(sampleVersion.name, [2])).toEqual([sampleVersion]);
    });

    test(`are kept up to ${versionsKept} of a document, the newest`, async () => {
      await write(...saved(version('other', 1)));
      const all = Array.from({ length: versionsKept + 3 }, (_, index) => version('a', index + 1));
      await write(...saved(...all));
      const kept = await numbers('a');
      expect(kept).toHaveLength(versionsKept);
      expect([kept[0], kept.at(-1)]).toEqual([versionsKept + 3, 4]);
      expect(await numbers('other')).toEqual([1]);
    });
  });

  describe('sets that were in force', () => {
    test('are found by their version, with all texts in their order', async () => {
      await write(setSaved('v1', 'one', 'two', 'one'), setSaved('v2', 'two', 'three\u0000'));
      const { policies } = open();
      expect(await policies.find('v1')).toEqual([
        { file: '0.yaml', text: 'one' },
        { file: '1.yaml', text: 'two' },
        { file: '2.yaml', text: 'one' },
      ]);
      expect(await policies.find('v2')).toMatchObject([{ text: 'two' }, { text: 'three\u0000' }]);
      expect(await policies.find('v3')).toBeUndefined();
    });

    test('keep the names and authors of stored documents, and may be empty', async () => {
      const sources = [
        { file: 'a', name: 'a', text: 'one', hash: 'x' },
        { file: 'b', name: 'b', author: 'org' as const, text: 'one', hash: 'x' },
      ];
      await write({ kind: 'policy_set_saved', set: { version: 'v1', at: 7, sources } }, setSaved('none'));
      expect(await open().policies.find('v1')).toEqual([
        { file: 'a', name: 'a', text: 'one' },
        { file: 'b', name: 'b', author: 'org', text: 'one' },
      ]);
      expect(await open().policies.find('none')).toEqual([]);
    });

    test(`are remembered up to ${setsKept}; one that comes in force again is new, and so are its texts`, async () => {
      await write(setSaved('old', 'alone', 'shared'), setSaved('again', 'common', 'shared'));
      for (let each = 1; each < setsKept; each++) await write(setSaved(`v${each}`, `text ${each}`, 'common'));
      expect(await open().policies.find('old')).toBeUndefined();
      await write(setSaved('again', 'common', 'shared'));
      await write(setSaved('last', 'common'));
      const { policies } = open();
      expect(await policies.find('v1')).toBeUndefined();
      expect(await policies.find('v2')).toMatchObject([{ text: 'text 2' }, { text: 'common' }]);
      expect(await policies.find('again')).toMatchObject([{ text: 'common' }, { text: 'shared' }]);
    });
  });

  test('a change of stored documents that fails does not stand in the way of the next', async () => {
    const change = (number: number) => open().policies.alone(() => write(...saved(version('a', number))));
    await change(1);
    await expect(open().policies.alone(() => Promise.reject(new Error('no')))).rejects.toThrow('no');
    await change(2);
    expect(await numbers('a')).toEqual([2, 1]);
  });
}
