import type { EventType } from '@reeve/contract/events';
import { closeCodes, eventSchema } from '@reeve/contract/events';
import { openApiDocument } from '@reeve/contract/http';
import { code, page, section, table } from './page.ts';
import type { Schema } from './schema-text.ts';
import { members } from './schema-text.ts';

/** When each event happens; null where nothing does yet. */
const meanings: Readonly<Record<EventType, string | null>> = {
  ops_change:
    'An operation has moved; its registration is a move, too. There is exactly one for each transition, and none for one that was refused or changed nothing. `op` is the operation right after it, as `GET /api/v1/ops/{id}` shows it.',
  decision:
    'A check was answered, replays and refused identities included. `op_id` is null where the refusal left no operation. Of a claim that names no registered agent there is none.',
  agent: 'An agent was registered, has left, was suspended or resumed.',
  audit_alert:
    'Something that an operator should look at. `alert` says what: `impersonation` (an agent came with the token of another; told to the tenant of the token’s owner), `control_unconfirmed` and `control_failed` (a stop that an agent has not confirmed, or could not do), `op_stale` and `op_back` (nothing has been heard of a running operation’s agent; it is back), `reservation_released` (what a budget held back for an operation of a silent agent is free again), `budget_overrun` (an action did cost more than a dollar, and more than ten times what was held back for it; it is booked), `clock_set_back` (the clock had been ahead; budgets are back on the day that it shows; for credentials that are bound to no tenant). What it is about stands beside it, by the same names as in [the audit log](audit-events.md).',
  policy:
    'Policies were put in force, or could not be: then `error` says why, and `version` is still in force. `document` is the stored document that was changed, and null where files were. Credentials that are bound to a tenant are told of changes to documents of that tenant only.',
  approval: null,
  budget:
    'A share of a cap, 80 or 95 percent, is used up for the first time in its period (`approached`), or a charge was refused, or waits for an approval, because it would pass a cap (`exceeded`; `percent` is null then), or somebody has corrected what was spent (`corrected`). What concerns the global cap is only for credentials that are bound to no tenant.',
};

const closings: Readonly<Record<keyof typeof closeCodes, string>> = {
  goingAway: 'The gateway is being stopped. Connect again.',
  tooSlow: 'The client reads too slowly. Connect again with `since`, the id of the last event that it has.',
  unauthenticated: 'The credential was revoked or has expired.',
};

/** What a stream of events sends, and how to follow it. */
export function eventsPage(): string {
  const { schemas } = (openApiDocument('') as { components: { schemas: Record<string, Schema> } }).components;
  const names = new Map([[JSON.stringify(operationIn(schemas['Event'] ?? {})), 'Operation']]);
  const arms = new Map(
    variantsOf(schemas['Event'] ?? {}).map((schema) => [schema.properties?.['event_type']?.const, schema]),
  );
  const known = eventSchema.options.map((option) => option.shape.event_type.value);
  const sections = known.map((type) => {
    const payload = arms.get(type)?.properties?.['payload'] ?? {};
    return section(code(type), meanings[type] ?? '', `\`\`\`text\npayload: ${members(payload, names)}\n\`\`\``);
  });
  const silent = Object.entries(meanings).flatMap(([type, text]) => (text === null ? [code(type)] : []));
  const codes = Object.entries(closeCodes).map(([name, number]) => [
    code(String(number)),
    closings[name as keyof typeof closeCodes],
  ]);
  return page(
    'Events',
    'The gateway tells what happens as it happens, once it is durable: over a WebSocket at `GET /api/v1/ws/events`, and as Server-Sent Events at `GET /api/v1/events`. Both take the same parameters and send the same events; see [HTTP](http.md#events).',
    '## An event',
    table(
      ['Member', 'Meaning'],
      [
        [
          '`id`',
          'A whole number. Ids grow over the whole gateway, never repeat and never go back, over restarts either. A stream that is narrowed does not see all of them.',
        ],
        ['`event_type`', 'One of those below.'],
        ['`agent_id`, `org_id`, `team_id`', 'Whose event it is; null where there is none.'],
        ['`timestamp`', 'When it happened.'],
        ['`payload`', 'What happened, by type.'],
      ],
    ),
    ...sections,
    `Accepted in \`types\`, and not sent by this version: ${silent.join(', ')}.`,
    '## A stream',
    [
      '1. `{"event_type":"hello","cursor":N}`: N is the id of the newest event.',
      '2. `{"event_type":"gap"}`, only where `since` cannot be bridged: it is older than what is kept (the last 16,384 events), or from before a restart. Read the lists anew; what follows is all there is.',
      '3. What came after `since`, oldest first. Without `since`, and with one that is yet to come, nothing.',
      '4. What happens from then on. Nothing is lost or doubled in between.',
    ].join('\n'),
    'A credential that is bound to an org or a team sees what is its own, in replay, too. `org_id`, `agent_id` and `types` only narrow.',
    '**Credential.** `Authorization: Bearer`, or, where a client cannot send headers, a ticket of `POST /api/v1/auth/ws-ticket` in the query: it is good for one stream and for 30 seconds, and is used up only by a request that is in order. Where there is a header, the ticket is not looked at. A stream ends with its credential.',
    '**WebSocket.** Each message is one JSON text. The gateway pings every 30 seconds and closes a connection that does not answer. What clients send is not read, and must be shorter than 4 KiB. There is no subprotocol and no compression.',
    '**Server-Sent Events.** `id` is the id, `event` the type, `data` the same JSON; `hello` and `gap` have no id. `Last-Event-ID` counts for more than `since`. A comment comes every 15 seconds. Where a WebSocket would be closed, the answer ends.',
    '**Slow clients.** Up to 1 MiB waits for each client. One that takes nothing of it for three seconds, or falls behind what is kept, is closed, and keeps no other waiting.',
    '## Close codes',
    table(['Code', 'Why'], codes),
  );
}

function variantsOf({ anyOf, oneOf }: Schema & { readonly oneOf?: readonly Schema[] }): readonly Schema[] {
  return oneOf ?? anyOf ?? [];
}

/** The operation in `ops_change`, which is shown by its name. */
function operationIn(event: Schema): Schema {
  const change = variantsOf(event).find(({ properties }) => properties?.['event_type']?.const === 'ops_change');
  return change?.properties?.['payload']?.properties?.['op'] ?? {};
}
