import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { makeKey } from '../harness/credentials.ts';
import { allowAll, TestGateway } from '../harness/gateway.ts';
import { Policies } from '../harness/policies.ts';

let gateway: TestGateway;
let evil: Policies;
let good: Policies;
beforeAll(async () => {
  gateway = await TestGateway.start({ policies: { 'test.yaml': allowAll } });
  const admin = async (org_id: string) => (await makeKey(gateway, { org_id, scopes: ['admin'] })).key;
  evil = new Policies(gateway, await admin('evil'));
  good = new Policies(gateway, await admin('good'));
});
afterAll(() => gateway[Symbol.asyncDispose]());

/** Each short pattern compiles to almost the maximum number of instructions. */
function patterns(document: number, rules: number): string {
  const written = Array.from(
    { length: rules },
    (_, at) => `- {name: r${at}, effect: deny, when: 'args.p.matches("(a{95}){20}${document}_${at}")'}\n`,
  );
  return `scope: org:evil\nrules:\n${written.join('')}`;
}

const tooMany = 'credentials of the org "evil" store at most 200000 instructions of patterns in their documents';

describe('what one tenant stores', { timeout: 120_000 }, () => {
  test('has a bound for each source', async () => {
    const { status, body } = await evil.tryPut('large', patterns(0, 60));
    expect([status, body.code]).toEqual([422, 'policy_invalid']);
    expect(body.errors?.[0]?.message).toContain('the patterns of one source become at most 100000 instructions');
    expect((await evil.validate(patterns(0, 60))).body.valid).toBe(false);
  });

  test('has a bound together, and what is beyond is refused with what to do', async () => {
    for (let document = 0; document < 2; document++) await evil.put(`d${document}`, patterns(document, 50));
    const { status, body } = await evil.tryPut('d2', patterns(2, 50));
    expect([status, body.code]).toEqual([422, 'policy_invalid']);
    expect(body.errors?.map(({ message }) => message)).toEqual([expect.stringContaining(tooMany)]);
    expect(body.detail).toContain('or delete some');
    const validated = await evil.validate(patterns(2, 50), 'd2');
    expect(validated.body.errors.map(({ message }) => message)).toEqual([expect.stringContaining(tooMany)]);
  });

  test('cannot be passed by going back to what was stored earlier', async () => {
    await evil.put('d1', patterns(1, 1));
    await evil.put('d2', patterns(2, 50));
    const { status, text } = await evil.rollback('d1', 1);
    expect([status, text.includes('200000 instructions')]).toEqual([422, true]);
    expect((await evil.delete('d2')).status).toBe(204);
    expect((await evil.rollback('d1', 1)).status).toBe(200);
  });

  test('keeps neither another tenant nor the operator from validating and putting', async () => {
    const validations = Array.from({ length: 4 }, () => evil.validate(patterns(9, 50)));
    const empty = await good.validate('scope: org:good\nrules: []\n');
    expect([empty.status, empty.body]).toEqual([200, { valid: true, errors: [] }]);
    await new Policies(gateway).put('emergency', 'rules: [{name: stop, effect: deny, tools: [x]}]');
    await new Policies(gateway).put('evil/d0', patterns(3, 50));
    for (const { status } of await Promise.all(validations)) expect([200, 429]).toContain(status);
  });
});
