import { isIP } from 'node:net';
import { clientHello, serverNameOf } from './client-hello.ts';
import type { Destination } from './destination.ts';

/** A connection is cut because its bytes are not what was checked. */
export class CutError extends Error {}

const handshakeRecord = 22;
const alertRecord = 21;
const headerLength = 5;
const alertLength = headerLength + 2;
const warningLevel = 1;
const longestRecord = 16_640;
const longestHello = 16_384;
/** Hellos stand in one or two records. Joining ever more of them would take this process too long. */
const mostRecords = 16;
const serverHello = 2;
/** A server that asks for another hello says so by this in place of its random bytes (RFC 8446, 4.1.3). */
const retryMark = Buffer.from('cf21ad74e59a6111be1d8c021e65b891c2a211167abb8c5e079e09e2c8a8339c', 'hex');
const marked = 4 + 2 + retryMark.length;

/**
 * Looks at the beginning of a tunnel. If it is TLS, the name that the client asks the server for must be the host that
 * was checked, in each hello. Nothing of a hello passes before it is known whole.
 */
export class TlsGuard {
  readonly #host: string;
  readonly #isName: boolean;
  readonly #mustBeTls: boolean;
  #phase: 'first' | 'hello' | 'answer' | 'again' | 'done' = 'first';
  /** What came from the client and is not passed on yet. */
  #held = Buffer.alloc(0);
  /** How much of a record of the client passes before the next one begins. */
  #passing = 0;
  #answer = Buffer.alloc(0);

  constructor({ host, protocol }: Destination) {
    this.#host = host;
    this.#isName = isIP(host) === 0;
    this.#mustBeTls = protocol === 'https';
  }

  /** Whether all that comes from now on passes as it is. */
  get isDone(): boolean {
    return this.#phase === 'done' && this.#held.length === 0;
  }

  /** What may pass of what the client has sent so far. */
  fromClient(chunk: Buffer): Buffer {
    if (this.isDone || chunk.length === 0) return chunk;
    if (this.#phase === 'first') {
      const isTls = chunk[0] === handshakeRecord;
      if (!isTls && this.#mustBeTls) throw new CutError('it was checked as https, and does not begin as TLS');
      this.#phase = isTls ? 'hello' : 'done';
      if (!isTls) return chunk;
    }
    this.#held = Buffer.concat([this.#held, chunk]);
    const passed: Buffer[] = [];
    for (let more = this.#take(passed); more; more = this.#take(passed));
    return Buffer.concat(passed);
  }

  /** The client has ended its side. */
  end(): void {
    if (this.#held.length > 0) throw new CutError('it ended within the beginning of TLS');
  }

  /** Takes one step over what is held. False if more is needed. */
  #take(passed: Buffer[]): boolean {
    if (this.#passing > 0 || this.#phase === 'done') {
      const length = this.#phase === 'done' ? this.#held.length : Math.min(this.#passing, this.#held.length);
      if (length === 0) return false;
      passed.push(this.#held.subarray(0, length));
      this.#held = this.#held.subarray(length);
      this.#passing = Math.max(0, this.#passing - length);
      return true;
    }
    if (this.#held.length < headerLength) return false;
    const length = recordLength(this.#held);
    if (length === undefined) throw new CutError('it begins as TLS, and goes on otherwise');
    const isHandshake = this.#held[0] === handshakeRecord;
    if (this.#phase === 'hello' && !isHandshake) throw new CutError('its hello is interrupted');
    if (this.#phase === 'answer' && isHandshake) throw new CutError('it goes on before the server has answered');
    if (!isHandshake) {
      this.#passing = headerLength + length;
      return true;
    }
    return this.#takeHello(passed);
  }

  /** A hello may stand in several records. They pass together, once the name in it is the one that was checked. */
  #takeHello(passed: Buffer[]): boolean {
    const { hello, end, records } = handshakeIn(this.#held);
    if (records > mostRecords) throw new CutError('its hello is in too many pieces');
    if (hello.length >= 1 && hello[0] !== clientHello) throw new CutError('it does not begin with a hello');
    const whole = hello.length < 4 ? undefined : 4 + hello.readUIntBE(1, 3);
    if (whole !== undefined && whole > longestHello) throw new CutError('its hello is too long');
    if (whole === undefined || hello.length < whole) {
      if (this.#held.length > 2 * longestHello) throw new CutError('its hello is too long');
      return false;
    }
    this.#requireName(serverNameOf(hello));
    passed.push(this.#held.subarray(0, end));
    this.#held = this.#held.subarray(end);
    this.#phase = this.#phase === 'hello' ? 'answer' : 'done';
    return true;
  }

  #requireName(name: string | null | undefined): void {
    if (name === undefined) throw new CutError('its hello cannot be read');
    if (name === null) {
      if (this.#isName) throw new CutError(`TLS without a server name, where ${this.#host} was checked`);
    } else if (name.replace(/\.$/, '') !== this.#host) {
      throw new CutError(`TLS for the server name ${name.slice(0, 253)}, where ${this.#host} was checked`);
    }
  }

  /** Looks at what the server answers: a second hello comes only if it asks for one. */
  fromServer(chunk: Buffer): void {
    if (this.#phase !== 'answer') return;
    this.#answer = withoutWarnings(Buffer.concat([this.#answer, chunk]));
    const isCutAlert = this.#answer[0] === alertRecord && this.#answer.length < alertLength;
    if (this.#answer.length === 0 || isCutAlert) return;
    const isHandshake = this.#answer[0] === handshakeRecord;
    const { hello: answer } = isHandshake ? handshakeIn(this.#answer) : { hello: Buffer.alloc(0) };
    const isOther = !isHandshake || (answer.length > 0 && answer[0] !== serverHello);
    if (!isOther && answer.length < marked && this.#answer.length < longestRecord) return;
    this.#phase = !isOther && answer.subarray(6, marked).equals(retryMark) ? 'again' : 'done';
    this.#answer = Buffer.alloc(0);
  }
}

/** A server may warn, as of a name that it does not know (RFC 6066), and answer after that. */
function withoutWarnings(bytes: Buffer<ArrayBuffer>): Buffer<ArrayBuffer> {
  let at = 0;
  while (
    bytes.length >= at + alertLength &&
    bytes[at] === alertRecord &&
    recordLength(bytes.subarray(at)) === alertLength - headerLength &&
    bytes[at + headerLength] === warningLevel
  ) {
    at += alertLength;
  }
  return bytes.subarray(at);
}

/** The length that the header of a record announces; undefined if it is none. */
function recordLength(bytes: Buffer): number | undefined {
  const type = bytes[0] ?? 0;
  const length = bytes.readUInt16BE(3);
  return type >= 20 && type <= 24 && bytes[1] === 3 && length > 0 && length <= longestRecord ? length : undefined;
}

/** The handshake that the records at the beginning hold, as far as it is there, and where the last of them ends. */
function handshakeIn(bytes: Buffer): { readonly hello: Buffer; readonly end: number; readonly records: number } {
  const parts: Buffer[] = [];
  let at = 0;
  while (bytes.length >= at + headerLength && bytes[at] === handshakeRecord && parts.length <= mostRecords) {
    const length = recordLength(bytes.subarray(at));
    if (length === undefined) break;
    parts.push(bytes.subarray(at + headerLength, at + headerLength + length));
    if (bytes.length < at + headerLength + length)
      return { hello: Buffer.concat(parts), end: bytes.length, records: parts.length };
    at += headerLength + length;
    const hello = Buffer.concat(parts);
    if (hello.length >= 4 && hello.length >= 4 + hello.readUIntBE(1, 3))
      return { hello, end: at, records: parts.length };
  }
  return { hello: Buffer.concat(parts), end: at, records: parts.length };
}
