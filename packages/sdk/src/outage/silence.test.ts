import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { Silence } from './silence.ts';

const longest = 100_000;

function watched({ connected = true, connectMs = longest, answerMs = longest } = {}) {
  const found: string[] = [];
  const silence = new Silence(
    { connectMs, answerMs },
    () => connected,
    (wasConnected) => found.push(wasConnected ? 'connected' : 'not connected'),
  );
  return { silence, found };
}

const whenFound = (found: readonly string[], what: readonly string[]) =>
  expect.poll(() => found, { timeout: 20_000 }).toEqual(what);

test('a gateway that says nothing is found, once, connected or not', async () => {
  const mute = watched({ answerMs: 10 });
  const absent = watched({ connected: false, connectMs: 10 });
  for (const { silence } of [mute, absent]) for (let asked = 0; asked < 3; asked++) silence.ask();
  await whenFound(mute.found, ['connected']);
  await whenFound(absent.found, ['not connected']);
  await sleep(30);
  expect([mute.found.length, absent.found.length]).toEqual([1, 1]);
});

test('whoever is connected gets the time for an answer, and others the time for a connection', async () => {
  const connected = watched({ connectMs: 1 });
  const connecting = watched({ connected: false, answerMs: 1 });
  connected.silence.ask();
  connecting.silence.ask();
  await sleep(50);
  expect([connected.found, connecting.found]).toEqual([[], []]);
});

test('an answer to anybody breaks the silence', async () => {
  const { silence, found } = watched({ answerMs: 500 });
  silence.ask();
  expect(silence.everBroken).toBe(false);
  for (let answered = 0; answered < 15; answered++) {
    const question = silence.ask();
    await sleep(50);
    question.answer();
  }
  expect([silence.everBroken, found]).toEqual([true, []]);
  await whenFound(found, ['connected']);
});

test('a failed question leaves the silence as it is, and one that nobody asks any more does not', async () => {
  const failed = watched({ answerMs: 50 });
  failed.silence.ask().fail();
  const withdrawn = watched({ answerMs: 50 });
  withdrawn.silence.ask().withdraw();
  const answered = watched({ answerMs: 50 });
  answered.silence.ask().answer();
  await whenFound(failed.found, ['connected']);
  await sleep(50);
  expect([withdrawn.found, answered.found]).toEqual([[], []]);
});

test('a process that was busy itself reads first what came meanwhile', async () => {
  const { silence, found } = watched({ answerMs: 20 });
  const question = silence.ask();
  const end = performance.now() + 500;
  while (performance.now() < end);
  await new Promise((resolve) => setImmediate(resolve));
  question.answer();
  await sleep(60);
  expect(found).toEqual([]);
  silence.ask();
  await whenFound(found, ['connected']);
});

test('a question counts once, whatever else becomes of it', async () => {
  const { silence, found } = watched({ answerMs: 30 });
  const first = silence.ask();
  first.answer();
  first.fail();
  first.withdraw();
  silence.ask().answer();
  await sleep(60);
  expect(found).toEqual([]);
});

test('nothing is found after the end, and nothing without patience', async () => {
  const ended = watched({ answerMs: 10 });
  ended.silence.ask();
  ended.silence.end();
  ended.silence.ask();
  const patient = new Silence(
    undefined,
    () => true,
    () => expect.unreachable(),
  );
  patient.ask();
  await sleep(50);
  expect(ended.found).toEqual([]);
});
