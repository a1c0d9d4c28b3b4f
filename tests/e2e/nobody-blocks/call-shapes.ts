import { bounds } from '@reeve/contract';
import type { World } from './world.ts';
import {
  aliases,
  dearConditions,
  longRules,
  manyConditions,
  manyGlobs,
  worstBodies,
  worstTexts,
  worstYaml,
} from './worst-texts.ts';

/** A call in wire form. */
export interface Call {
  readonly path: string;
  readonly bearer?: string;
  readonly body?: string;
  /** The call does not end by itself. Its start is enough. */
  readonly isStream?: boolean;
}

export type Worst = (world: World) => readonly Call[];

const source = bounds.policySource;
const org = 'scope: org:acme\nrules:\n';
export const numbers = Array.from({ length: 600 }, (_, at) => at);
const cursor = Buffer.from('9'.repeat(380)).toString('base64url');
export const dear = {
  agent: { agent_id: 'bot' },
  action_type: 'tool_call',
  context: { tool_name: 'x', args: { a: numbers } },
};

/** A call without long members. The gateway refuses its body, but reads it first. */
export function simple(path: (world: World) => string, who: 'operator' | 'tenant' | 'person' = 'tenant'): Worst {
  return (world) => [
    { path: path(world), bearer: world[who] },
    ...worstBodies('reason').map((body) => ({ path: path(world), bearer: world[who], body })),
  ];
}

export function read(path: string, who: 'operator' | 'tenant' | 'person' = 'tenant'): Worst {
  return (world) => [{ path, bearer: world[who] }];
}

export function list(path: string, who: 'operator' | 'tenant' | 'person' = 'tenant'): Worst {
  return (world) => [
    { path: `${path}?per_page=1000`, bearer: world[who] },
    { path: `${path}?per_page=1000&cursor=${cursor}`, bearer: world[who] },
  ];
}

/** Each text in turn, at its maximum length. */
export function withTexts(
  path: (world: World) => string,
  length: number,
  bodyOf: (text: string) => object,
  who: 'operator' | 'tenant' | 'person' = 'tenant',
): Worst {
  return (world) => [
    ...worstTexts(length).map((text) => ({
      path: path(world),
      bearer: world[who],
      body: JSON.stringify(bodyOf(text)),
    })),
    ...worstBodies(Object.keys(bodyOf(''))[0] ?? 'reason').map((body) => ({
      path: path(world),
      bearer: world[who],
      body,
    })),
  ];
}

export function sources(path: string, bodyOf: (text: string) => object, who: 'operator' | 'tenant' = 'tenant'): Worst {
  const texts = [
    manyConditions(source, org),
    longRules(source, org),
    manyGlobs(source, org),
    aliases(org),
    dearConditions(org).slice(0, source),
    ...worstYaml(source - 100),
  ];
  return (world) => texts.map((text) => ({ path, bearer: world[who], body: JSON.stringify(bodyOf(text)) }));
}

export const filters = (path: string): Worst => {
  const texts = worstTexts(200).map((text) => encodeURIComponent(text.slice(0, 200)));
  return ({ tenant, operator }) =>
    [tenant, operator].flatMap((bearer) => [
      ...texts.slice(0, 6).map((q) => ({ path: `${path}?per_page=1000&q=${q}`, bearer })),
      { path: `${path}?per_page=1000&cursor=${cursor}`, bearer },
    ]);
};

export const opPath =
  (action: string) =>
  ({ opId }: World) =>
    `/api/v1/ops/${encodeURIComponent(opId)}${action}`;
export const approvalPath =
  (action: string) =>
  ({ approvalId }: World) =>
    `/api/v1/approvals/${approvalId}${action}`;
/** Texts in the place of a token, and one that has its form. */
export const links = [...worstTexts(256), `rvl_apr_${'a'.repeat(24)}.approve.1.${'x'.repeat(43)}`].map((token) => ({
  path: `/api/v1/approval-link?token=${encodeURIComponent(token.slice(0, 256))}`,
}));
export const nobody = '/api/v1/iam/api-keys/nobody';
export const agent = '/api/v1/agents/acme/core/bot';
/** A thread hashes the password. The work before that is on the main thread. */
export const secret = 900_000;
