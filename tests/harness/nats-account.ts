import { createHash } from 'node:crypto';
import { nkeys } from '@nats-io/transport-node';

type KeyPair = ReturnType<typeof nkeys.createUser>;

export interface NatsAccount {
  /** What a server needs to trust the credentials. */
  readonly config: Readonly<Record<string, unknown>>;
  /** The content of a credentials file. */
  readonly creds: string;
  readonly seed: string;
}

/** An operator, an account and a user, as `nsc` makes them. */
export function makeNatsAccount(): NatsAccount {
  const [operator, account, user] = [nkeys.createOperator(), nkeys.createAccount(), nkeys.createUser()];
  const unlimited = { subs: -1, data: -1, payload: -1 };
  const limits = { ...unlimited, imports: -1, exports: -1, wildcards: true, conn: -1, leaf: -1 };
  const ofAccount = sign(operator, account, { type: 'account', limits });
  const ofUser = sign(account, user, { type: 'user', ...unlimited });
  const seed = Buffer.from(user.getSeed()).toString();
  return {
    config: {
      operator: sign(operator, operator, { type: 'operator' }),
      resolver: 'MEMORY',
      resolver_preload: { [account.getPublicKey()]: ofAccount },
    },
    creds: `${block('NATS USER JWT', ofUser)}\n${block('USER NKEY SEED', seed)}`,
    seed,
  };
}

function sign(issuer: KeyPair, subject: KeyPair, nats: Readonly<Record<string, unknown>>): string {
  const claims = {
    iat: Math.floor(Date.now() / 1000),
    iss: issuer.getPublicKey(),
    sub: subject.getPublicKey(),
    name: 'reeve test',
    nats: { ...nats, version: 2 },
  };
  const jti = createHash('sha256').update(JSON.stringify(claims)).digest('hex');
  const text = `${encode({ typ: 'JWT', alg: 'ed25519-nkey' })}.${encode({ ...claims, jti })}`;
  return `${text}.${Buffer.from(issuer.sign(Buffer.from(text))).toString('base64url')}`;
}

function encode(value: unknown): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url');
}

function block(name: string, content: string): string {
  return `-----BEGIN ${name}-----\n${content}\n------END ${name}------\n`;
}
