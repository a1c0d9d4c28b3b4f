import { maskResult, parsePolicies, parseSource, plainSource, reviveSource } from '@reeve/core';
import { describe, expect, test } from 'vitest';
import { policyFeatures } from './policy-features.ts';

function problemsIn(rule: string): readonly string[] {
  const text = `rules:\n  - ${rule}`;
  return parsePolicies([{ file: 'p', text }], policyFeatures).problems.map(
    ({ line, column, message }) => `${line}:${column} ${message}`,
  );
}

describe('what is wrong with a rule on results is told with its place', () => {
  test.each([
    ['{ effect: deny, when: "result_text == \'a\'" }', /^2:28 bad "when": unknown variable "result_text"/],
    ['{ effect: deny, when: "result.a == 1" }', /^2:28 bad "when": unknown variable "result"/],
    ['{ on: result, effect: deny, when: "result_text > 1" }', /^2:40 bad "when": there is no operator/],
    ['{ on: result, effect: deny, when: "result_text" }', /a condition must be true or false/],
    ['{ on: result, effect: mask, mask: { patterns: ["a", "(b"] } }', /^2:58 bad pattern: "\(" has no matching "\)"/],
    ['{ on: result, effect: mask, mask: { patterns: ["a(?=b)"] } }', /there is no lookaround/],
  ])('%s', (rule, expected) => {
    const problems = problemsIn(rule);
    expect(problems).toHaveLength(1);
    expect(problems[0]).toMatch(expected);
  });

  test('patterns of masks count with those of conditions', () => {
    const rule = (nth: number) => {
      const patterns = Array.from({ length: 50 }, (_, at) => `"[ab]{1000}x{900}${nth}-${at}"`);
      return `{ on: result, effect: mask, mask: { patterns: [${patterns.join()}] } }`;
    };
    const [problem] = problemsIn(`${rule(1)}\n  - ${rule(2)}`);
    expect(problem).toContain('instructions');
  });
});

test('a mask is the same after it has travelled between threads', () => {
  const text = `rules:\n  - { on: result, effect: mask, mask: { detect: [email], patterns: ["ACC-\\\\d+"], fields: ["a.*"], with: "#" } }`;
  const source = parseSource({ file: 'p', text }, policyFeatures);
  expect(source.problems).toEqual([]);
  const steps = reviveSource(structuredClone(plainSource(source)), policyFeatures);
  let step = steps.next();
  while (step.done !== true) step = steps.next();
  const result = '{"a":{"b":1},"c":"ACC-12 and ann@example.com"}';
  for (const { documents } of [source, step.value]) {
    const masks = documents
      .flatMap(({ document }) => document.resultRules ?? [])
      .flatMap(({ mask }) => mask?.compiled ?? []);
    expect(maskResult(result, masks)).toEqual({
      text: '{"a":{"b":"#"},"c":"# and #"}',
      counts: { field: 1, pattern: 1, email: 1 },
    });
  }
});
