import type { AccessChange, ApiKeyRecord, SigningKeyRecord } from '../../access/index.ts';
import { scopes } from '../../access/index.ts';
import type { AccountsChange } from '../../accounts/index.ts';
import type { AlertEvent } from '../../audit/index.ts';
import type { EventIdsChange, RestoresChange } from '../../journal/index.ts';
import type { BackupsChange, LogsChange } from '../../logs/index.ts';
import type { SchemaOf } from './common.ts';
import { record } from './record.ts';
import { agent, integer, json, list, nullable, optional, ownText, text, time, word } from './values.ts';

const key = record<ApiKeyRecord>({
  id: text,
  hash: ownText,
  label: text,
  scopes: list(word(scopes)),
  orgId: nullable(text),
  teamId: nullable(text),
  createdAt: time,
  expiresAt: nullable(time),
  lastUsedAt: nullable(time),
  revokedAt: nullable(time),
  madeBy: nullable(record({ kind: word(['account', 'api_key']), id: text })),
  rotatedFrom: nullable(text),
});

const signingKey = record<SigningKeyRecord>({ kid: text, privateJwk: ownText, publicJwk: ownText, createdAt: time });

export const accessChanges: SchemaOf<AccessChange | AccountsChange> = {
  api_key_saved: { key },
  api_key_used: { id: text, at: time },
  signing_key_saved: { key: signingKey },
  signing_key_removed: { kid: text },
  owed_entry_recorded: { id: text },
  rights_changed: { ids: list(text) },
};

export const logChanges: SchemaOf<BackupsChange | EventIdsChange | LogsChange | RestoresChange> = {
  backup_taken: { at: time },
  event_ids_reserved: { through: integer },
  entries_removed: { through: integer },
  restore_recorded: {},
};

export const alertEvents: SchemaOf<AlertEvent> = {
  audit_alert: {
    at: time,
    agent: nullable(agent),
    alert: word([
      'control_unconfirmed',
      'control_failed',
      'op_stale',
      'op_back',
      'reservation_released',
      'budget_overrun',
      'clock_set_back',
      'tool_definition_changed',
      'impersonation',
      'forward_gap',
    ]),
    details: json<AlertEvent['details']>(),
    movedBackTo: optional(text),
    reported: optional(list(text)),
  },
};
