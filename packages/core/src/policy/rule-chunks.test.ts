import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import type { PolicyDocument } from './document.ts';
import type { RuleChunk } from './scope-indexes.ts';
import { chunksOf } from './scope-indexes.ts';

function documentOf(name: string, rules: number): PolicyDocument {
  const rule = (at: number) => ({ name: `r${at}`, effect: 'allow' as const, matchers: {} });
  return { name, scope: { tier: 'global' }, rules: Array.from({ length: rules }, (_, at) => rule(at)) };
}

const size = fc.constantFrom(0, 1, 20, 400, 900, 2000);
const change = fc.record({ at: fc.nat(40), kind: fc.constantFrom('put', 'add', 'remove'), size });

test('through any changes, chunks hold every document once and in order, and few are made anew', () => {
  fc.assert(
    fc.property(fc.array(size, { maxLength: 30 }), fc.array(change, { maxLength: 10 }), (sizes, changes) => {
      let documents = sizes.map((rules, at) => documentOf(`d${at}`, rules));
      let chunks: readonly RuleChunk[] = chunksOf(documents);
      for (const [n, { at, kind, size: rules }] of changes.entries()) {
        const place = Math.min(at, documents.length);
        const made = kind === 'remove' ? [] : [documentOf(`n${n}`, rules)];
        documents = documents.toSpliced(place, kind === 'add' ? 0 : 1, ...made);
        const next = chunksOf(documents, chunks);
        expect(next.flatMap((chunk) => chunk.documents)).toEqual(documents);
        for (const chunk of next) expect(chunk.documents.length === 1 || chunk.size <= 3000).toBe(true);
        const anew = next.filter((chunk) => !chunks.includes(chunk));
        expect(anew.reduce((sum, chunk) => sum + chunk.size, 0)).toBeLessThanOrEqual(12_000);
        chunks = next;
      }
    }),
    { numRuns: 300 },
  );
});

test('what has not changed at all is the same', () => {
  const documents = [3, 700, 2000, 1].map((rules, at) => documentOf(`d${at}`, rules));
  const chunks = chunksOf(documents);
  expect(chunksOf(documents, chunks)).toEqual(chunks);
  for (const [at, chunk] of chunksOf([...documents], chunks).entries()) expect(chunk).toBe(chunks[at]);
});

test('many small documents that come one after the other make few chunks', () => {
  let documents: PolicyDocument[] = [];
  let chunks: readonly RuleChunk[] = [];
  for (let at = 0; at < 1000; at++) {
    documents = [...documents, documentOf(`d${at}`, 5)];
    chunks = chunksOf(documents, chunks);
  }
  expect(chunks.length).toBeLessThanOrEqual(11);
});
