import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parseRequest } from '../json-request.ts';
import { UnmaskablePrompt, withMaskedPrompt } from './masked-prompt.ts';

const secret = 'ada@example.com';

/** As the gateway masks: what is found is replaced, and every other byte stays. */
const mask = async (prompt: string) => prompt.replaceAll(secret, '[masked]');

async function masked(body: string, judge = mask): Promise<string> {
  return (await withMaskedPrompt(parseRequest(Buffer.from(body)), judge)).body.toString();
}

/** A form of a megabyte, so deep. */
function long(depth: number): string {
  return `${'['.repeat(depth)}"${'x'.repeat(2 ** 20)}"${']'.repeat(depth)}`;
}

describe('what a model is asked', () => {
  test.each([
    [
      'a chat',
      `{"messages":[{"role":"system","content":"${secret}"},{"role":"user","name":"${secret}","content":[{"type":"text","text":"to ${secret}"}]}]}`,
    ],
    [
      'a call of a tool',
      `{"messages":[{"role":"assistant","tool_calls":[{"id":"c","function":{"name":"f","arguments":"{\\"to\\":\\"${secret}\\"}"}}]}]}`,
    ],
    [
      'a message of blocks',
      `{"system":[{"type":"text","text":"${secret}"}],"messages":[{"role":"assistant","content":[{"type":"tool_use","id":"t","name":"f","input":{"${secret}":1}}]}]}`,
    ],
    [
      'a response',
      `{"instructions":"${secret}","input":"${secret}","prompt":{"id":"p","variables":{"who":"${secret}"}}}`,
    ],
    ['embeddings', `{"input":["${secret}","b"]}`],
    ['who asks', `{"user":"${secret}","metadata":{"user_id":"${secret}"},"safety_identifier":"${secret}"}`],
    [
      'tools, by their texts',
      `{"tools":[{"type":"function","function":{"name":"f","description":"mail ${secret}","parameters":{"properties":{"password":{"enum":["${secret}","b"]}}}}}]}`,
    ],
    [
      'the form of an answer',
      `{"text":{"format":{"schema":{"description":"${secret}"}}},"response_format":{"x":["${secret}"]}}`,
    ],
    ['what nobody knows yet', `{"new_prompt":{"deep":[["${secret}"]]}}`],
  ])('%s', async (_what, members) => {
    const body = `{ "model": "m" ,\n "n": 1.0, ${members.slice(1)}`;
    expect(await masked(body)).toBe(body.replaceAll(secret, '[masked]'));
  });

  test('the model, short numbers and flags are not part of it', async () => {
    let asked = '';
    const body = '{"model":"m","max_tokens":411111111111,"seed":-1.5,"stream":true,"stop":null,"messages":[]}';
    await masked(body, async (prompt) => (asked = prompt));
    expect(asked).toBe('{"messages":[]}');
  });

  test.each(['4111111111111111', '6011000000000000000001', '-4111111111111111.0', '4.111111111111111e15'])(
    'the number %s is, wherever it stands, as it is written',
    async (card) => {
      const other = '4222222222222222222';
      const body = `{"model":"m","seed":${card}, "top":${other},"messages":[{"content":[{"type":"tool_result","content":{"card":${card}}}]}],"tools":[{"name":"f","n":1,"default":${card},"enum":[ ${other} , ${card} ]}]}`;
      let asked = '';
      const judge = async (prompt: string) => (asked = prompt).replaceAll(card, '"[masked]"');
      expect(await masked(body, judge)).toBe(body.replaceAll(card, '"[masked]"'));
      expect(asked).toContain(`"tools":["f",${card},${other},${card}]`);
    },
  );

  test('names in the forms of tools say nothing, so they are not judged', async () => {
    let asked = '';
    await masked(
      '{"model":"m","tools":[{"parameters":{"properties":{"password":{"type":"string"}}}}]}',
      async (prompt) => (asked = prompt),
    );
    expect(asked).toBe('{"tools":["string"]}');
  });

  test.each([
    ['tokens', '{"model":"m","input":[1,2,3]}', /tokens/],
    ['tokens of many', '{"model":"m","input":[[1,2],[3]]}', /tokens/],
    ['a form without end', `{"model":"m","tools":${'['.repeat(60)}"x"${']'.repeat(60)}}`, /nested too deeply/],
    ['texts by the thousand', `{"model":"m","tools":[${'"x",'.repeat(20_000)}"x"]}`, /more than 20000 texts/],
    ['values by the thousand', `{"model":"m","tools":[${'0,'.repeat(200_000)}0]}`, /more than 200000 values/],
    [
      'a form that is long and deep',
      `{"model":"m","tools":${'['.repeat(40)}${' '.repeat(2 ** 21)}1e12${']'.repeat(40)}}`,
      /"tools" is too long/,
    ],
    [
      'forms that are so together',
      `{"model":"m","tools":${long(30)},"functions":${long(30)},"text":${long(30)}}`,
      /"text" is too long/,
    ],
  ])('that cannot be looked at does not leave: %s', async (_what, body, why) => {
    await expect(masked(body)).rejects.toThrow(why);
  });

  test.each([
    ['numbers of cards', 1e12, 20_001],
    ['texts', '', 20_001],
    ['short numbers', 0, 200_000],
    ['empty lists', [], 200_000],
  ])('that has too many %s is looked at as far as its bound', async (_what, each, most) => {
    let read = 0;
    const get = (list: object, name: string | symbol): unknown => {
      if (/^\d+$/.test(String(name))) read++;
      return Reflect.get(list, name);
    };
    const list: unknown = new Proxy(Array<unknown>(400_000).fill(each), { get });
    const request = parseRequest(Buffer.from('{"model":"m","tools":[]}'));
    const asked = withMaskedPrompt({ ...request, value: { ...request.value, tools: [[list]] } }, mask);
    await expect(asked).rejects.toThrow(UnmaskablePrompt);
    expect(read).toBeLessThanOrEqual(most);
  });

  test('a form may be as deep as its bound, and has as many texts', async () => {
    const form = (texts: string) => `{"model":"m","tools":${'['.repeat(48)}${texts}${']'.repeat(48)}}`;
    const body = form(`${'0,'.repeat(1000)}${'"x",'.repeat(19_999)}"${secret}"`);
    expect(await masked(body)).toBe(body.replace(secret, '[masked]'));
    await expect(masked(form('[]'))).rejects.toThrow('nested too deeply');
  });

  test('every other byte stays, wherever it stands and however it is written', async () => {
    const text = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.constantFrom(secret, `a ${secret} b`, '\u{1F600}', '\\u0040', '"'),
    );
    const value = fc.letrec((tie) => ({
      value: fc.oneof(
        { maxDepth: 3 },
        text,
        fc.integer(),
        fc.boolean(),
        fc.constant(null),
        fc.array(tie('value'), { maxLength: 4 }),
        fc.dictionary(fc.constantFrom('content', 'text', 'type', 'x'), tie('value')),
      ),
    })).value;
    const member = fc.constantFrom('messages', 'system', 'input', 'tools', 'metadata', 'text', 'anything');
    await fc.assert(
      fc.asyncProperty(fc.dictionary(member, value), fc.constantFrom(0, 1, 3), async (members, spaces) => {
        // A list of numbers would be tokens there.
        const input = members['input'] === undefined ? {} : { input: { content: members['input'] } };
        const body = JSON.stringify({ model: 'm', ...members, ...input }, null, spaces);
        const given = await masked(body);
        expect(given).toBe(body.replaceAll(secret, '[masked]'));
      }),
    );
  });
});

test.each([
  ['without one of its members', async () => '{"messages":[]}'],
  ['with another member', async () => '{"messages":[],"tools":["a"],"x":1}'],
  ['with a name masked', async (prompt: string) => prompt.replace('"messages"', '"[masked]"')],
  ['with a form masked whole', async (prompt: string) => prompt.replace('["a"]', '"[masked]"')],
  ['with a text of a form that is none', async (prompt: string) => prompt.replace('["a"]', '[1]')],
  [
    'that is nested too deeply',
    async (prompt: string) => prompt.replace('"messages":[]', `"messages":${'['.repeat(5000)}${']'.repeat(5000)}`),
  ],
])('what comes back %s is refused', async (_what, judge) => {
  await expect(masked('{"model":"m","messages":[],"tools":[{"d":"a"}]}', judge)).rejects.toThrow(UnmaskablePrompt);
});

test('what comes back and is no JSON any more is refused', async () => {
  const judge = async (prompt: string) => prompt.replace('[]', '[');
  await expect(masked('{"model":"m","messages":[]}', judge)).rejects.toThrow();
});
