/** The parameters of an argon2id hash. */
export interface HashParameters {
  readonly memoryKib: number;
  readonly passes: number;
  readonly lanes: number;
  readonly saltBytes: number;
  readonly tagBytes: number;
}

/** The parameters that OWASP currently recommends for argon2id. */
export const currentParameters: HashParameters = {
  memoryKib: 19_456,
  passes: 2,
  lanes: 1,
  saltBytes: 16,
  tagBytes: 32,
};

export interface PasswordHash {
  readonly parameters: HashParameters;
  readonly salt: Uint8Array;
  readonly tag: Uint8Array;
}

const form =
  /^\$argon2id\$v=19\$m=([1-9]\d{0,6}),t=([1-9]\d{0,2}),p=([1-9]\d?)\$([A-Za-z0-9+/]{1,128})\$([A-Za-z0-9+/]{1,128})$/;

/** More than any sensible hash needs, so that a tampered hash cannot exhaust the machine. */
const most = { memoryKib: 262_144, passes: 16, lanes: 8 };
const least = { saltBytes: 8, tagBytes: 16 };

/** The PHC string format: `$argon2id$v=19$m=19456,t=2,p=1$<salt>$<tag>`, in base64 without padding. */
export function formatHash({ parameters: { memoryKib, passes, lanes }, salt, tag }: PasswordHash): string {
  return `$argon2id$v=19$m=${memoryKib},t=${passes},p=${lanes}$${toBase64(salt)}$${toBase64(tag)}`;
}

/** Undefined if the text is not a hash that can be verified. */
export function parseHash(text: string): PasswordHash | undefined {
  const [, memory, passes, lanes, saltText = '', tagText = ''] = form.exec(text) ?? [];
  const salt = fromBase64(saltText);
  const tag = fromBase64(tagText);
  if (salt === undefined || tag === undefined) return undefined;
  const parameters = {
    memoryKib: Number(memory),
    passes: Number(passes),
    lanes: Number(lanes),
    saltBytes: salt.length,
    tagBytes: tag.length,
  };
  return isBearable(parameters) ? { parameters, salt, tag } : undefined;
}

export function sameParameters(one: HashParameters, other: HashParameters): boolean {
  return (
    one.memoryKib === other.memoryKib &&
    one.passes === other.passes &&
    one.lanes === other.lanes &&
    one.saltBytes === other.saltBytes &&
    one.tagBytes === other.tagBytes
  );
}

function isBearable({ memoryKib, passes, lanes, saltBytes, tagBytes }: HashParameters): boolean {
  return (
    memoryKib >= 8 * lanes &&
    memoryKib <= most.memoryKib &&
    passes <= most.passes &&
    lanes <= most.lanes &&
    saltBytes >= least.saltBytes &&
    tagBytes >= least.tagBytes
  );
}

function toBase64(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('base64').replaceAll('=', '');
}

/**
 * Accepts only the canonical spelling of the bytes. They get their own memory, because a thread is sent the whole
 * buffer.
 */
function fromBase64(text: string): Uint8Array | undefined {
  const bytes = Uint8Array.from(Buffer.from(text, 'base64'));
  return toBase64(bytes) === text ? bytes : undefined;
}
