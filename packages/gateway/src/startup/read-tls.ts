import { readFileSync } from 'node:fs';
import { createSecureContext } from 'node:tls';
import { messageOf } from '@reeve/core';
import type { Config } from '../config/settings.ts';
import { StartError } from '../start-error.ts';

/** The certificate and key of both ports, if configured. */
export function readTls(config: Config): { cert: Buffer; key: Buffer } | undefined {
  if (config.tlsCert === undefined || config.tlsKey === undefined) return undefined;
  try {
    const tls = { cert: readFileSync(config.tlsCert), key: readFileSync(config.tlsKey) };
    createSecureContext(tls);
    return tls;
  } catch (error) {
    throw new StartError(`SVC_TLS_CERT, SVC_TLS_KEY: not a certificate and its key in PEM: ${messageOf(error)}`, 2);
  }
}
