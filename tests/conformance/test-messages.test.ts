import { describe, expect, it } from 'vitest';
import {
  readAggregatedSize,
  readBody,
  readCallRequest,
  writeAggregatedSize,
  writeBody,
  writeCallRequest,
} from './test-messages.ts';

describe('the messages of the test service', () => {
  it('are read as they were written', () => {
    const request = {
      responses: [
        { size: 9, intervalMicros: 0 },
        { size: 31_415, intervalMicros: 500_000 },
      ],
      status: { code: 2, message: 'test status message ☺' },
    };
    expect(readCallRequest(writeCallRequest(request, 8))).toMatchObject(request);
    expect(readCallRequest(writeCallRequest({ responseSize: 314_159 }, 271_828))).toMatchObject({
      responseSize: 314_159,
      payload: new Uint8Array(271_828),
      status: undefined,
    });
    expect(readBody(writeBody(2653))).toHaveLength(2653);
    expect(readAggregatedSize(writeAggregatedSize(74_922))).toBe(74_922);
  });

  it('are skipped over where a field is unknown', () => {
    const unknownField = [0x52, 0x02, 0x01, 0x02];
    expect(readCallRequest(Uint8Array.from([...unknownField, 0x10, 0x05])).responseSize).toBe(5);
  });
});
