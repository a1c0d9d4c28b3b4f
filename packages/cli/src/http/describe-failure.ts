import { CliError } from '../cli-error.ts';

/** Explains a failed connection to the person who typed the command. */
export function describeFailure(error: Error, url: URL, during: 'head' | 'body' = 'head'): Error {
  if (error instanceof CliError || error.name === 'AbortError') return error;
  const code = 'code' in error ? String(error.code) : '';
  const place = url.origin;
  const words = connectionWords(code, url) ?? tlsWords(code, error, url);
  if (words !== undefined) return new UnreachableError(`cannot reach ${place}: ${words}`, error);
  if (code === 'REEVE_TIMEOUT') return new UnreachableError(`${place} does not answer: ${error.message}`, error);
  if (during === 'body' || code === 'ECONNRESET' || code === 'EPIPE') {
    return new UnreachableError(`${place} broke the connection off before its answer was complete`, error);
  }
  if (code.startsWith('HPE_')) {
    return new UnreachableError(
      `${place} does not answer in HTTP. Is the URL right? A gateway with TLS needs https://`,
      error,
    );
  }
  return new UnreachableError(`cannot reach ${place}: ${error.message}`, error);
}

/** No answer, or no intelligible one. A later retry may help. */
export class UnreachableError extends CliError {
  constructor(message: string, cause: unknown) {
    super(message, { cause });
  }
}

function connectionWords(code: string, url: URL): string | undefined {
  switch (code) {
    case 'ECONNREFUSED':
      return 'the connection was refused. Is the gateway running there?';
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return `the name "${url.hostname}" is not known`;
    case 'EHOSTUNREACH':
    case 'ENETUNREACH':
    case 'EADDRNOTAVAIL':
      return 'there is no way to it through the network';
    case 'ETIMEDOUT':
      return 'the connection was not answered in time';
    default:
      return undefined;
  }
}

const untrusted = new Set([
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
]);

function tlsWords(code: string, error: Error, url: URL): string | undefined {
  if (untrusted.has(code)) {
    return `its certificate is not trusted (${error.message}). Name the file of its authority in NODE_EXTRA_CA_CERTS`;
  }
  if (code === 'CERT_HAS_EXPIRED') return 'its certificate has expired';
  if (code === 'CERT_NOT_YET_VALID') return 'its certificate is not valid yet; is the clock of this machine right?';
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID') return `its certificate is not for "${url.hostname}"`;
  if (code === 'EPROTO' || code.startsWith('ERR_SSL')) {
    return `TLS failed (${error.message.split('\n')[0]?.trim()}). A gateway without TLS needs http://`;
  }
  return undefined;
}
