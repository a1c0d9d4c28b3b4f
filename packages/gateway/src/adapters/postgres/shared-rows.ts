import type {
  Access,
  AgentId,
  AgentRecord,
  ApiKeyRecord,
  Change,
  Governance,
  SigningKeyRecord,
  StoredVersion,
} from '@reeve/core';
import { agentOfChange, followAgent, followApiKey, followPolicy, followSigningKey, isAgentChange } from '@reeve/core';
import type { NoticeKind } from './notices.ts';
import type { PostgresStore, SharedRows } from './postgres-store.ts';

/** The shared rows in memory. */
export interface Shared extends Access {
  readonly gov: Governance;
  readonly journal: Governance['journal'];
}

/** The reads that following other gateways needs. */
export type SharedReader = Pick<PostgresStore, 'agents' | 'apiKeys' | 'signingKeys' | 'newestPolicies' | 'shared'>;

/** How one kind of row is held in memory and brought up to date. Keys are those of notices. */
export interface SharedKind<Row> {
  readonly keyOf: (row: Row) => readonly string[];
  readonly read: (store: SharedReader, keys: readonly (readonly string[])[]) => Promise<readonly Row[]>;
  readonly all: (rows: SharedRows) => readonly Row[];
  /** The keys in memory. */
  readonly known: (access: Shared) => (readonly string[])[];
  /** A changed value means that this gateway has changed the row in the meantime. */
  readonly version: (access: Shared, key: readonly string[]) => unknown;
  readonly isAbout: (change: Change, key: readonly string[]) => boolean;
  readonly follow: (access: Shared, key: readonly string[], row: Row | undefined) => Promise<void> | void;
}

function kind<Row>(of: SharedKind<Row>): SharedKind<unknown> {
  return of as unknown as SharedKind<unknown>;
}

export const sharedKinds: Readonly<Record<NoticeKind, SharedKind<unknown>>> = {
  agent: kind<AgentRecord>({
    keyOf: ({ id }) => [id.orgId, id.teamId, id.agentId],
    read: (store, keys) => store.agents(keys.map(agentIdOf)),
    all: (rows) => rows.agents,
    known: ({ gov }) => [...gov.directory.all()].map(({ record: { id } }) => [id.orgId, id.teamId, id.agentId]),
    version: ({ gov }, key) => gov.directory.find(agentIdOf(key))?.record,
    isAbout: (change, key) => isAgentChange(change) && isSame(agentOfChange(change), key),
    follow: ({ gov }, key, row) => followAgent(gov, agentIdOf(key), row),
  }),
  api_key: kind<ApiKeyRecord>({
    keyOf: ({ id }) => [id],
    read: (store, keys) => store.apiKeys(keys.flat()),
    all: (rows) => rows.apiKeys,
    known: ({ keys }) => keys.all().map(({ id }) => [id]),
    version: ({ keys }, [id = '']) => keys.find(id)?.revokedAt,
    isAbout: (change, [id]) => change.kind === 'api_key_saved' && change.key.id === id,
    follow: (access, [id = ''], row) => followApiKey(access, id, row),
  }),
  signing_key: kind<SigningKeyRecord>({
    keyOf: ({ kid }) => [kid],
    read: (store, keys) => store.signingKeys(keys.flat()),
    all: (rows) => rows.signingKeys,
    known: ({ signingKeys }) => signingKeys.all().map(({ kid }) => [kid]),
    version: ({ signingKeys }, [kid = '']) => signingKeys.find(kid),
    isAbout: (change, [kid]) =>
      (change.kind === 'signing_key_saved' && change.key.kid === kid) ||
      (change.kind === 'signing_key_removed' && change.kid === kid),
    follow: (access, [kid = ''], row) => followSigningKey(access, kid, row),
  }),
  policy: kind<StoredVersion>({
    keyOf: ({ name }) => [name],
    read: (store, keys) => store.newestPolicies(keys.flat()),
    all: (rows) => rows.policies,
    known: ({ gov }) => [...gov.policyRegistry.sources.stored.keys()].map((name) => [name]),
    version: ({ gov }, [name = '']) => gov.policyRegistry.sources.stored.get(name)?.saved.version,
    isAbout: (change, [name]) => change.kind === 'policy_saved' && change.saved.name === name,
    follow: ({ gov }, _, row) => (row === undefined ? undefined : followPolicy(gov, row)),
  }),
};

function agentIdOf([orgId = '', teamId = '', agentId = '']: readonly string[]): AgentId {
  return { orgId, teamId, agentId };
}

function isSame(id: AgentId, key: readonly string[]): boolean {
  return id.orgId === key[0] && id.teamId === key[1] && id.agentId === key[2];
}
