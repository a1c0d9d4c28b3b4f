import { status } from '@grpc/grpc-js';
import { expect, test } from 'vitest';
import { errorOfStatus } from './error-of-status.ts';
import { ReeveError, ReeveUnavailable } from '../errors.ts';

test.each([
  [status.CANCELLED, 'unavailable'],
  [status.UNKNOWN, 'internal'],
  [status.INVALID_ARGUMENT, 'invalid_request'],
  [status.DEADLINE_EXCEEDED, 'unavailable'],
  [status.NOT_FOUND, 'op_not_found'],
  [status.ALREADY_EXISTS, 'token_in_use'],
  [status.PERMISSION_DENIED, 'permission_denied'],
  [status.RESOURCE_EXHAUSTED, 'resource_exhausted'],
  [status.FAILED_PRECONDITION, 'invalid_transition'],
  [status.ABORTED, 'internal'],
  [status.OUT_OF_RANGE, 'invalid_request'],
  [status.UNIMPLEMENTED, 'internal'],
  [status.INTERNAL, 'internal'],
  [status.UNAVAILABLE, 'unavailable'],
  [status.DATA_LOSS, 'internal'],
  [status.UNAUTHENTICATED, 'unauthenticated'],
  [99, 'internal'],
])('status %d is %s', (code, expected) => {
  const error = errorOfStatus(code, 'said the gateway');
  expect(error).toBeInstanceOf(ReeveError);
  expect(error).toMatchObject({ code: expected, message: 'said the gateway', name: error.constructor.name });
});

test('a connection that could not be made is told by its cause, and certainly carried nothing', () => {
  const details = 'No connection established. Last error: connect ECONNREFUSED 127.0.0.1:1';
  const error = errorOfStatus(status.UNAVAILABLE, details);
  expect(error).toMatchObject({ message: 'connect ECONNREFUSED 127.0.0.1:1', mayHaveArrived: false });
});

test('a call that was waiting for the connection when the gateway was left has carried nothing', () => {
  const error = errorOfStatus(status.UNAVAILABLE, 'Channel closed before call started');
  expect(error).toMatchObject({ code: 'unavailable', message: 'no connection in time', mayHaveArrived: false });
});

test('a stream cut off in the middle is no fault of the gateway', () => {
  const error = errorOfStatus(status.INTERNAL, 'Received RST_STREAM with code 2 (Internal server error)');
  expect(error).toBeInstanceOf(ReeveUnavailable);
  expect(error).toMatchObject({ mayHaveArrived: true });
});
