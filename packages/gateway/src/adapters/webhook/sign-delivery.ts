import { createHmac } from 'node:crypto';

/** The value of `reeve-signature`: the time of signing, and an HMAC of that time and the body. */
export function signDelivery(secret: string, unixSeconds: number, body: string): string {
  const mac = createHmac('sha256', secret).update(`${unixSeconds}.${body}`).digest('hex');
  return `t=${unixSeconds},v1=${mac}`;
}
