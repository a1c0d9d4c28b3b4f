import { createHmac } from 'node:crypto';

/** The value of `reeve-signature`: when it was signed, and an HMAC of that time and the body together. */
export function signDelivery(secret: string, unixSeconds: number, body: string): string {
  const mac = createHmac('sha256', secret).update(`${unixSeconds}.${body}`).digest('hex');
  return `t=${unixSeconds},v1=${mac}`;
}
