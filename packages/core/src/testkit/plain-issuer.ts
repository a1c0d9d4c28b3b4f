import type { Issuers, SubjectIssuer, TokenCheck } from '../access/issuers.ts';

/** An issuer whose tokens are their claims, as JSON: `subject token: is not JSON` refuses the rest. */
export function plainIssuer(issuer = 'https://id.example.com', names = { email: 'email', groups: 'groups' }) {
  /** The claims of the tokens that were looked at, in order. */
  const seen: string[] = [];
  /** While there is one, every token waits for it. */
  const gate: { opens: Promise<void> | undefined } = { opens: undefined };
  const known = new Map<string, TokenCheck>();
  const check = (token: string): TokenCheck => {
    const made = known.get(token) ?? read(token);
    known.set(token, made);
    return made;
  };
  const subjects: Issuers<SubjectIssuer> = {
    trusted: [
      {
        settings: { issuer, audiences: ['reeve'], claims: names },
        verifier: {
          verify: (token) => {
            seen.push(token);
            return gate.opens === undefined ? check(token) : gate.opens.then(() => check(token));
          },
        },
      },
    ],
  };
  return { subjects, seen, gate };
}

function read(token: string): TokenCheck {
  try {
    const claims = JSON.parse(token) as Record<string, unknown>;
    return { ok: true, claims, expiresAt: typeof claims['exp'] === 'number' ? claims['exp'] : Number.MAX_SAFE_INTEGER };
  } catch {
    return { ok: false, why: 'is not JSON' };
  }
}
