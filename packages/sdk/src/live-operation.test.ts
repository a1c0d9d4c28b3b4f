import { setImmediate as turn } from 'node:timers/promises';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Control, ControlSignal } from './control.ts';
import { OperationTerminatedError } from './errors.ts';
import { LiveOperation } from './live-operation.ts';
import { ProcessHold } from './process-hold.ts';

function startOperation() {
  const acks: string[] = [];
  let sequence = 0;
  const op = new LiveOperation('t:s', { hold: new ProcessHold(), lost: undefined });
  const control = (signal: ControlSignal, reason = 'because') => {
    const nth = ++sequence;
    const told = (outcome: string) => async () => void acks.push(`${signal}${nth} ${outcome}`);
    const message: Control = { opId: op.id, signal, reason, controlId: `ctl_${nth}`, issuedAt: '', sequence: nth };
    op.take(message, { effective: told('effective'), failed: async (detail) => told(`failed: ${detail}`)() });
    return nth;
  };
  return { op, control, acks };
}

test('a pause takes effect at the next checkpoint, which a resume releases', async () => {
  const { op, control, acks } = startOperation();
  op.begin();
  await op.checkpoint();
  control('pause');
  expect([op.state, acks]).toEqual(['paused', []]);
  let passed = false;
  const waiting = op.checkpoint().then(() => (passed = true));
  expect(acks).toEqual(['pause1 effective']);
  await turn();
  expect(passed).toBe(false);
  control('resume');
  await waiting;
  expect([op.state, acks]).toEqual(['running', ['pause1 effective', 'resume2 effective']]);
});

test('a termination fires the signal at once, and takes effect when the work has ended', async () => {
  const { op, control, acks } = startOperation();
  op.begin();
  const { signal } = op;
  control('terminate', 'looks wrong');
  expect(signal.aborted).toBe(true);
  expect(signal.reason).toBeInstanceOf(OperationTerminatedError);
  expect(signal.reason).toMatchObject({
    code: 'operation_terminated',
    opId: 't:s',
    reason: 'looks wrong',
    controlId: 'ctl_1',
    message: 'the operation t:s was terminated: looks wrong',
  });
  await expect(op.checkpoint()).rejects.toBe(signal.reason);
  expect([op.state, acks]).toEqual(['terminated', []]);
  op.end();
  expect(acks).toEqual(['terminate1 effective']);
});

test('a signal that is first looked at after the termination has fired', () => {
  const { op, control } = startOperation();
  op.begin();
  control('terminate');
  expect(op.signal.reason).toBe(op.terminated);
});

test('a termination ends the wait at a checkpoint', async () => {
  const { op, control, acks } = startOperation();
  op.begin();
  control('pause');
  const waiting = op.checkpoint();
  control('terminate');
  await expect(waiting).rejects.toBe(op.terminated);
  expect(acks).toEqual(['pause1 effective']);
  op.end();
  expect(acks).toEqual(['pause1 effective', 'terminate2 effective']);
});

test('before its work begins, everything takes effect at once', () => {
  const { control, acks } = startOperation();
  control('pause');
  control('resume');
  control('terminate');
  expect(acks).toEqual(['pause1 effective', 'resume2 effective', 'terminate3 effective']);
});

test('a pause that is resumed before the work came to a checkpoint never took effect, and is not told as if', async () => {
  const { op, control, acks } = startOperation();
  op.begin();
  control('pause');
  control('resume');
  await op.checkpoint();
  op.end();
  expect(acks).toEqual(['resume2 effective']);
});

test('work that is paused again while it wakes stays at its checkpoint', async () => {
  const { op, control, acks } = startOperation();
  op.begin();
  control('pause');
  let passed = false;
  const waiting = op.checkpoint().then(() => (passed = true));
  control('resume');
  control('pause');
  await turn();
  expect([passed, acks]).toEqual([false, ['pause1 effective', 'resume2 effective', 'pause3 effective']]);
  control('resume');
  await waiting;
});

test('a hook carries out what checkpoints cannot, and its error is told to the operator', async () => {
  const { op, control, acks } = startOperation();
  const seen: string[] = [];
  op.hook = async ({ signal }) => {
    seen.push(signal);
    if (signal === 'terminate') throw new Error('the payment has been sent');
  };
  op.begin();
  control('pause');
  expect(acks).toEqual([]);
  await turn();
  expect(acks).toEqual(['pause1 effective']);
  control('resume');
  control('terminate');
  await turn();
  expect(seen).toEqual(['pause', 'resume', 'terminate']);
  expect(acks.slice(1)).toEqual(['resume2 effective', 'terminate3 failed: the payment has been sent']);
  op.end();
  expect(acks.at(-1)).toBe('terminate3 effective');
});

test('with nobody left to resume it, waiting ends with an error', async () => {
  let lost: Error | undefined;
  const op = new LiveOperation('t:s', {
    hold: new ProcessHold(),
    get lost() {
      return lost;
    },
  });
  op.begin();
  const effective = async () => {};
  op.take(
    { opId: 't:s', signal: 'pause', reason: '', controlId: '', issuedAt: '', sequence: 1 },
    { effective, failed: effective },
  );
  const waiting = op.checkpoint();
  lost = new Error('the agent is closed');
  op.lose(lost);
  await expect(waiting).rejects.toBe(lost);
  await expect(op.checkpoint()).rejects.toBe(lost);
  await op.unpaused();
});

test('whatever happens in whichever order, only what is true is told, and all of it in the end', async () => {
  const step = fc.constantFrom('begin', 'checkpoint', 'end', 'pause', 'resume', 'terminate', 'turn');
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 30 }), async (steps) => {
      const op = new LiveOperation('t:s', { hold: new ProcessHold(), lost: undefined });
      let work = 'not begun' as 'not begun' | 'working' | 'waiting' | 'ended';
      const effective = new Map<number, number>();
      const sent: { signal: ControlSignal; sequence: number }[] = [];
      const lies: string[] = [];
      const control = (signal: ControlSignal) => {
        const sequence = sent.length + 1;
        sent.push({ signal, sequence });
        const tell = async () => {
          effective.set(sequence, (effective.get(sequence) ?? 0) + 1);
          const stillPaused = sent.every((later) => later.sequence <= sequence || later.signal !== 'resume');
          const under = work === 'working' || work === 'waiting';
          if (signal === 'terminate' && under) lies.push(`${sequence}: terminated, and ${work}`);
          if (signal === 'pause' && (work === 'working' || !stillPaused)) lies.push(`${sequence}: paused, and ${work}`);
        };
        const message = { opId: op.id, signal, reason: '', controlId: '', issuedAt: '', sequence };
        op.take(message, { effective: tell, failed: tell });
      };
      const arrive = async () => {
        work = 'waiting';
        try {
          await op.checkpoint();
        } catch (error) {
          expect(error).toBe(op.terminated);
        }
        if (work === 'waiting') work = 'working';
      };
      const end = () => {
        work = 'ended';
        op.end();
      };
      for (const step of steps) {
        if (step === 'turn') await turn();
        else if (step === 'begin') {
          if (work !== 'not begun' || op.terminated !== undefined || op.state === 'paused') continue;
          work = 'working';
          op.begin();
        } else if (step === 'checkpoint') {
          if (work !== 'working') continue;
          void arrive();
          if (op.state === 'running' || op.terminated !== undefined) await turn();
        } else if (step === 'end') {
          if (work !== 'working') continue;
          end();
        } else control(step);
      }
      if (work === 'waiting') {
        control('resume');
        await turn();
      }
      if (op.terminated === undefined) control('terminate');
      end();
      expect(lies).toEqual([]);
      const terminatedAt = sent.findIndex(({ signal }) => signal === 'terminate');
      for (const [index, { signal, sequence }] of sent.entries()) {
        const resumed = sent.slice(index + 1).some((later) => later.signal === 'resume');
        const times = effective.get(sequence) ?? 0;
        if (signal === 'pause' && resumed) expect(times).toBeLessThanOrEqual(1);
        else expect(times, `${signal}${sequence} of ${sent.length}, terminated at ${terminatedAt}`).toBe(1);
      }
    }),
    { numRuns: 3000 },
  );
});
