import { createHmac, timingSafeEqual } from 'node:crypto';

/** What a link does. */
export interface LinkedVerdict {
  readonly approvalId: string;
  readonly verdict: 'approve' | 'reject';
  /** When the approval expires, and the link with it. */
  readonly expiresAt: number;
}

const form = /^rvl_(apr_[0-9a-f]{1,64})\.(approve|reject)\.(\d{1,16})\.([\w-]{43})$/;

/**
 * Signs and reads the tokens of links that give a verdict in the name of one person. Nothing is stored: a person gives
 * one verdict on an approval, which uses the link up, and it counts no longer than the approval waits.
 */
export class ApprovalLinks {
  readonly #secret: string;
  readonly #approver: string;

  constructor(secret: string, approver: string) {
    this.#secret = secret;
    this.#approver = approver;
  }

  tokenFor({ approvalId, verdict, expiresAt }: LinkedVerdict): string {
    const said = `${approvalId}.${verdict}.${expiresAt}`;
    return `rvl_${said}.${this.#mac(said)}`;
  }

  /** Undefined if nobody with the secret made the token for this person. */
  read(token: string): LinkedVerdict | undefined {
    const [, approvalId = '', verdict, expiresAt = '', mac = ''] = form.exec(token) ?? [];
    if (verdict !== 'approve' && verdict !== 'reject') return undefined;
    // As texts: several of them decode to the same bytes.
    const expected = this.#mac(`${approvalId}.${verdict}.${expiresAt}`);
    if (mac.length !== expected.length || !timingSafeEqual(Buffer.from(mac), Buffer.from(expected))) return undefined;
    return { approvalId, verdict, expiresAt: Number(expiresAt) };
  }

  /** The text differs from every one that the same secret signs for webhooks, which begin with a time. */
  #mac(said: string): string {
    const mac = createHmac('sha256', this.#secret).update(`approval link for ${this.#approver}\n${said}`);
    return mac.digest('base64url');
  }
}
