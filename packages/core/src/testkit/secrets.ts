import * as fc from 'fast-check';

const upper = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ';
const lower = 'abcdefghijklmnopqrstuvwxyz';
const digits = '0123456789';
const letters = upper + lower;
const alphanumeric = letters + digits;

export function charset(characters: string, minLength: number, maxLength = minLength): fc.Arbitrary<string> {
  return fc.string({ unit: fc.constantFrom(...characters.split('')), minLength, maxLength });
}

function after(prefix: string, rest: fc.Arbitrary<string>): fc.Arbitrary<string> {
  return rest.map((text) => prefix + text);
}

function pem(kind: string): fc.Arbitrary<string> {
  return fc
    .array(charset(`${alphanumeric}+/`, 64), { minLength: 1, maxLength: 4 })
    .map((lines) => `-----BEGIN ${kind}PRIVATE KEY-----\n${lines.join('\n')}\n-----END ${kind}PRIVATE KEY-----`);
}

const segment = charset(`${alphanumeric}-_`, 16, 40);

/** Secrets that can be recognised by their form, as their issuers describe it. */
export const recognisedSecrets: Readonly<Record<string, fc.Arbitrary<string>>> = {
  'a Reeve API key': fc
    .tuple(charset(`${lower}234567`, 12), charset(alphanumeric, 46))
    .map(([id, rest]) => `rvk_${id}_${rest}`),
  'a Reeve agent token': after('rva_', charset(`${alphanumeric}-_`, 43)),
  'a Reeve invite': after('rvi_', charset(`${alphanumeric}-_`, 43)),
  'a Reeve refresh token': after('rvr_', charset(`${alphanumeric}-_`, 43)),
  'a Reeve password reset': after('rvp_', charset(`${alphanumeric}-_`, 43)),
  'a Reeve approval link': after('rvl_', charset(`${alphanumeric}-_.`, 60)),
  'a Reeve ticket': after('rvt_', charset(`${alphanumeric}-_`, 43)),
  'a Hugging Face token': after('hf_', charset(alphanumeric, 34)),
  'a SendGrid key': fc
    .tuple(charset(`${alphanumeric}-_`, 22), charset(`${alphanumeric}-_`, 43))
    .map(([id, rest]) => `SG.${id}.${rest}`),
  'a Google access token': after('ya29.', charset(`${alphanumeric}-_`, 60, 180)),
  'a dotted Google access token': fc
    .tuple(fc.constantFrom('a', 'c', 'd', 'c.c0'), charset(`${alphanumeric}-_`, 60, 180))
    .map(([kind, rest]) => `ya29.${kind}.${rest}`),
  'a PGP private key': fc
    .array(charset(`${alphanumeric}+/`, 64), { minLength: 1, maxLength: 4 })
    .map(
      (lines) =>
        `-----BEGIN PGP PRIVATE KEY BLOCK-----\n\n${lines.join('\n')}\n=aB3d\n-----END PGP PRIVATE KEY BLOCK-----`,
    ),
  'an OpenAI key': after('sk-proj-', charset(`${alphanumeric}-_`, 40, 60)),
  'an Anthropic key': after('sk-ant-api03-', charset(`${alphanumeric}-_`, 80, 95)),
  'a GitHub token': fc
    .constantFrom('ghp_', 'gho_', 'ghu_', 'ghs_', 'ghr_')
    .chain((prefix) => after(prefix, charset(alphanumeric, 36))),
  'a fine-grained GitHub token': after('github_pat_', charset(`${alphanumeric}_`, 82)),
  'a GitLab token': after('glpat-', charset(`${alphanumeric}-_`, 20)),
  'a Slack token': fc
    .constantFrom('xoxb-', 'xoxp-', 'xoxa-')
    .chain((prefix) => after(prefix, charset(`${digits}-${lower}`, 24, 50))),
  'an AWS access key id': fc.constantFrom('AKIA', 'ASIA').chain((prefix) => after(prefix, charset(upper + digits, 16))),
  'a Google API key': after('AIza', charset(`${alphanumeric}-_`, 35)),
  'a Stripe key': fc
    .constantFrom('sk_live_', 'sk_test_', 'rk_live_', 'pk_live_')
    .chain((prefix) => after(prefix, charset(alphanumeric, 24))),
  'an npm token': after('npm_', charset(alphanumeric, 36)),
  'a JSON web token': fc.tuple(segment, segment, segment).map(([head, body, sign]) => `eyJ${head}.eyJ${body}.${sign}`),
  'a private key': pem(''),
  'an RSA private key': pem('RSA '),
  'an OpenSSH private key': pem('OPENSSH '),
};

export const someSecret: fc.Arbitrary<string> = fc.oneof(...Object.values(recognisedSecrets));
