import type { Answer } from '@reeve/sdk';
import { expect, test } from 'vitest';
import { Denials } from './denials.ts';

const answer = { decision: 'deny', policyRule: 'web/others', reason: 'not listed', source: 'gateway' } as Answer;

test('each destination is told once, and only so many', () => {
  const said: string[] = [];
  const denials = new Denials((line) => said.push(line));
  for (const host of ['a.example', 'a.example', 'b.example']) denials.tell({ host, port: 443 }, answer);
  denials.tell({ host: 'a.example', port: 80 }, answer);
  expect(said).toEqual([
    'a connection to a.example port 443 is refused: denied by web/others: not listed',
    'a connection to b.example port 443 is refused: denied by web/others: not listed',
    'a connection to a.example port 80 is refused: denied by web/others: not listed',
  ]);
  for (let port = 1; port < 100; port++) denials.tell({ host: 'many.example', port }, answer);
  expect(said).toHaveLength(21);
  expect(said.at(-1)).toBe('more connections were denied, which are not shown; the gateway has them on record');
});
