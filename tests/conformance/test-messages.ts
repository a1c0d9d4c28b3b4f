import { BinaryReader, BinaryWriter, WireType } from '@bufbuild/protobuf/wire';

/** The messages of `grpc_testing.proto`, in the parts that the cases use. */
export interface CallRequest {
  /** One response of this size, for a unary call. */
  readonly responseSize: number;
  /** The responses of a stream. */
  readonly responses: readonly { readonly size: number; readonly intervalMicros: number }[];
  readonly payload: Uint8Array;
  readonly status: { readonly code: number; readonly message: string } | undefined;
}

/** SimpleRequest, or StreamingOutputCallRequest: they differ in field 2 alone. */
export function readCallRequest(bytes: Uint8Array): CallRequest {
  const reader = new BinaryReader(bytes);
  const responses: { size: number; intervalMicros: number }[] = [];
  let [responseSize, payload, status]: [number, Uint8Array, CallRequest['status']] = [0, new Uint8Array(), undefined];
  while (reader.pos < reader.len) {
    const [field, type] = reader.tag();
    if (field === 2 && type === WireType.Varint) responseSize = reader.int32();
    else if (field === 2) responses.push(readResponseParameters(reader.bytes()));
    else if (field === 3) payload = readPayloadOf(reader.bytes(), 2);
    else if (field === 7) status = readStatus(reader.bytes());
    else reader.skip(type);
  }
  return { responseSize, responses, payload, status };
}

function readResponseParameters(bytes: Uint8Array): { size: number; intervalMicros: number } {
  const reader = new BinaryReader(bytes);
  const read = { size: 0, intervalMicros: 0 };
  while (reader.pos < reader.len) {
    const [field, type] = reader.tag();
    if (field === 1) read.size = reader.int32();
    else if (field === 2) read.intervalMicros = reader.int32();
    else reader.skip(type);
  }
  return read;
}

function readStatus(bytes: Uint8Array): { code: number; message: string } {
  const reader = new BinaryReader(bytes);
  const read = { code: 0, message: '' };
  while (reader.pos < reader.len) {
    const [field, type] = reader.tag();
    if (field === 1) read.code = reader.int32();
    else if (field === 2) read.message = reader.string();
    else reader.skip(type);
  }
  return read;
}

/** The bytes in `wanted` of a message: a body in its Payload, or the Payload in what holds it. */
function readPayloadOf(bytes: Uint8Array, wanted: number): Uint8Array {
  const reader = new BinaryReader(bytes);
  let found: Uint8Array = new Uint8Array();
  while (reader.pos < reader.len) {
    const [field, type] = reader.tag();
    if (field === wanted) found = reader.bytes();
    else reader.skip(type);
  }
  return found;
}

/** The body of what SimpleResponse, StreamingOutputCallResponse and StreamingInputCallRequest hold in field 1. */
export function readBody(bytes: Uint8Array): Uint8Array {
  return readPayloadOf(readPayloadOf(bytes, 1), 2);
}

/** SimpleResponse, StreamingOutputCallResponse or StreamingInputCallRequest. */
export function writeBody(size: number): Uint8Array {
  return new BinaryWriter().tag(1, WireType.LengthDelimited).bytes(payloadOf(size)).finish();
}

/** StreamingInputCallResponse. */
export function writeAggregatedSize(size: number): Uint8Array {
  return new BinaryWriter().tag(1, WireType.Varint).int32(size).finish();
}

export function readAggregatedSize(bytes: Uint8Array): number {
  const reader = new BinaryReader(bytes);
  let size = 0;
  while (reader.pos < reader.len) {
    const [field, type] = reader.tag();
    if (field === 1) size = reader.int32();
    else reader.skip(type);
  }
  return size;
}

/** SimpleRequest or StreamingOutputCallRequest, with `payloadBytes` zeros. */
export function writeCallRequest(request: Partial<Omit<CallRequest, 'payload'>>, payloadBytes = 0): Uint8Array {
  const writer = new BinaryWriter();
  if (request.responseSize !== undefined) writer.tag(2, WireType.Varint).int32(request.responseSize);
  for (const { size, intervalMicros } of request.responses ?? []) {
    const parameters = new BinaryWriter()
      .tag(1, WireType.Varint)
      .int32(size)
      .tag(2, WireType.Varint)
      .int32(intervalMicros);
    writer.tag(2, WireType.LengthDelimited).bytes(parameters.finish());
  }
  if (payloadBytes > 0) writer.tag(3, WireType.LengthDelimited).bytes(payloadOf(payloadBytes));
  if (request.status !== undefined) {
    const status = new BinaryWriter()
      .tag(1, WireType.Varint)
      .int32(request.status.code)
      .tag(2, WireType.LengthDelimited)
      .string(request.status.message);
    writer.tag(7, WireType.LengthDelimited).bytes(status.finish());
  }
  return writer.finish();
}

function payloadOf(size: number): Uint8Array {
  return new BinaryWriter().tag(2, WireType.LengthDelimited).bytes(new Uint8Array(size)).finish();
}
