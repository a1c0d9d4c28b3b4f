import { expect, test } from 'vitest';
import { aControl, anOp } from '../pages/ops/testkit.ts';
import { opWords } from './op-words.ts';

const actor = { kind: 'account', id: 'b', label: 'Bo' } as const;

test.each([
  ['Running', anOp({ state: 'running' })],
  ['Finished', anOp({ state: 'completing' })],
  ['Finished', anOp({ state: 'completing', control: aControl({ action: 'resume', actor }) })],
  ['Denied', anOp({ state: 'terminated', reason: 'denied by rule starter/no-deletes' })],
  ['Denied', anOp({ state: 'terminated', reason: 'no policy loaded' })],
  ['Stopped by Bo', anOp({ state: 'terminated', control: aControl({ action: 'terminate', actor }) })],
  ['Rejected', anOp({ state: 'terminated', reason: 'rejected by Bo: too much' })],
  ['Expired', anOp({ state: 'terminated', reason: 'approval expired' })],
  ['Called off', anOp({ state: 'terminated', reason: 'called off by its agent' })],
  ['Agent left', anOp({ state: 'terminated', reason: 'agent deregistered' })],
  ['Never checked', anOp({ state: 'terminated', action_type: null, reason: 'not checked in time, or other words' })],
  ['Agent left', anOp({ state: 'terminated', action_type: null, reason: 'agent deregistered' })],
  ['Denied', anOp({ state: 'terminated', reason: 'agent deregistered its own rule' })],
  ['Denied', anOp({ state: 'terminated', reason: 'constructor' })],
])('an operation is shown as %s', (words, op) => expect(opWords(op)[0]).toBe(words));
