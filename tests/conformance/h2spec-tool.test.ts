import { describe, expect, it } from 'vitest';
import { asGrpc } from './h2spec-tool.ts';

const source = `return []hpack.HeaderField{
	HeaderField(":method", "GET"),
	HeaderField(":path", c.Path),
	HeaderField(":authority", authority),
}`;

describe('h2spec with requests of gRPC', () => {
  it('gets the method and the fields of a call', () => {
    const changed = asGrpc(source);
    expect(changed).toContain('HeaderField(":method", "POST"),');
    expect(changed).toContain('HeaderField("content-type", "application/grpc"), HeaderField("te", "trailers"),');
    expect(changed).not.toContain('"GET"');
  });

  it('is not built from a source that is not as expected', () => {
    expect(() => asGrpc(source.replace('"GET"', '"HEAD"'))).toThrow('does not hold');
    expect(() => asGrpc(source + source)).toThrow('does not hold');
  });
});
