import { afterAll, beforeAll, expect, it } from 'vitest';
import { eventually } from '../harness/eventually.ts';
import { McpWorld } from './mcp-world.ts';

// What an agent may try so that another thing happens than what was judged.

let world: McpWorld;
beforeAll(async () => {
  world = await McpWorld.start();
});
afterAll(() => world[Symbol.asyncDispose]());

it.each([
  ['{"id":"e0","method":"ping","Method":"tools/call","params":{"name":"wipe"}}', 'e0'],
  ['{"id":"e1","METHOD":"tools/call","params":{"name":"wipe"}}', null],
  ['{"id":"e2","method":"tools/call","params":{"name":"echo","Name":"wipe"}}', 'e2'],
  ['{"id":"e3","method":"tools/call","params":{"name":"echo"},"param\u017f":{"name":"wipe"}}', 'e3'],
  ['{"id":"e4","method":["tools/call"],"params":{"name":"wipe"}}', null],
  ['{"id":"e5","method":"ping","result":{},"params":{"name":"wipe"}}', 'e5'],
  ['[{"id":"e6","method":"ping"},{"id":"e7","Method":"tools/call","params":{"name":"wipe"}}]', null],
  ['[{"id":"e8","method":"ping"},{"id":"e8","method":"x/wipe"}]', null],
  ['{"id":"e9","method":"tools/call","params":{"name":"echo","arguments":{"path":"a","Path":"wipe"}}}', 'e9'],
  ['{"id":"e11","method":"tools/call","params":{"name":"echo","arguments":{"wipe":1e400}}}', 'e11'],
  ['{"id":"e12","method":"tools/call","params":{"name":"echo","arguments":{"wipe":12345678901234567}}}', 'e12'],
  ['{"id":"e13","method":"tools/call","params":{"name":"echo","arguments":{"wipe":[0.1234567890123456789]}}}', 'e13'],
  ['{"id":9007199254740993,"method":"tools/call","params":{"name":"wipe"}}', 9007199254740993],
  ['{"id":500.00000000000000000001,"method":"x/wipe"}', 500],
  ['{"id":{"wipe":1},"method":"ping"}', null],
  [`{"id":"${'e'.repeat(2000)}","method":"x/wipe"}`, 'e'.repeat(2000)],
  ['{"id":"e14","method":"x/wipe","params":{"_meta":{"progressToken":12345678901234567}}}', 'e14'],
  ['{"id":"e15","method":"x/wipe","params":{"_meta":{"progressToken":[1]}}}', 'e15'],
  [`{"id":"e10","method":"tools/call","params":{"name":"wipe${'e'.repeat(600)}"}}`, 'e10'],
])('%s reaches no server', async (line, id) => {
  await using client = await world.run();
  client.write(line);
  expect((await client.answer(id)).error?.code).toBeLessThanOrEqual(-32_600);
  await client.ask('ping');
  expect(world.heard().filter((message) => JSON.stringify(message).includes('wipe'))).toEqual([]);
});

it('an id of a call under way is not free for a batch', async () => {
  await using client = await world.run();
  const slow = client.start('tools/call', { name: 'slow' });
  const { op_id: opId } = await world.op();
  await world.control('pause', opId);
  client.write(`[{"jsonrpc":"2.0","id":${slow},"method":"ping"}]`);
  expect((await client.answer(null)).error?.message).toMatch('another request');
  await world.control('terminate', opId);
  expect((await client.answer(slow)).result?.content[0]?.text).toMatch(/^Stopped/);
});

it('what was stopped gives its result under no other request', async () => {
  await using client = await world.run();
  const slow = client.start('tools/call', { name: 'slow' });
  await world.control('terminate', (await world.op()).op_id);
  expect((await client.answer(slow)).result?.isError).toBe(true);
  const before = client.lines.length;
  client.send({ id: slow, method: 'ping' });
  await eventually(() => expect(client.lines.length).toBeGreaterThan(before));
  expect(client.messages.at(-1)).toMatchObject({ id: slow, error: { code: -32_600 } });
});

it('what is told of an id that nobody can tell apart names the id as it was written', async () => {
  await using client = await world.run();
  client.write('{"jsonrpc":"2.0","id":9007199254740993,"method":"ping"}');
  await eventually(() => expect(client.lines.join()).toContain('"id":9007199254740993,'));
  expect(client.lines.join()).toContain('is not the same to every reader');
});

it('ids that are a number and a text of the same digits are two ids', async () => {
  await using client = await world.run();
  client.send({ id: 7000, method: 'tools/call', params: { name: 'echo', arguments: { of: 'number' } } });
  client.send({ id: '7000', method: 'tools/call', params: { name: 'echo', arguments: { of: 'text' } } });
  expect((await client.answer(7000)).result?.content[0]?.text).toBe('{"of":"number"}');
  expect((await client.answer('7000')).result?.content[0]?.text).toBe('{"of":"text"}');
});

it('answers of a batch keep their digits', async () => {
  await using client = await world.run();
  const mirrored = '{"jsonrpc":"2.0","id":"m1","method":"x/mirror","params":{"n":12345678901234567}}';
  client.write(`[${mirrored},{"jsonrpc":"2.0","id":"m2","method":"tools/call","params":{"name":"echo"}}]`);
  await eventually(() => expect(client.lines.join()).toContain('"n":12345678901234567}'));
});
