import type { EventType } from '@reeve/contract/events';
import { closeCodes, eventSchema } from '@reeve/contract/events';
import { openApiDocument } from '@reeve/contract/http';
import { code, page, section, table } from './page.ts';
import type { Schema } from './schema-text.ts';
import { members } from './schema-text.ts';

/** When each event happens. */
const meanings: Readonly<Record<EventType, string>> = {
  ops_change:
    'An operation has moved; its registration is a move, too. Each transition has exactly one event. A refused transition, or one that changes nothing, has none. `op` is the operation right after it, as `GET /api/v1/ops/{id}` shows it.',
  decision:
    'A check was answered, replays and refused identities included. `op_id` is null if the refusal left no operation. A claim to be an unregistered agent has no event.',
  suspension:
    'An org, a team or everything was suspended, or a suspension was lifted. It goes to everybody whom the scope holds: a suspension of everything also to the credentials of tenants.',
  agent: 'An agent was registered, has left, was suspended or resumed.',
  audit_alert: [
    'An operator should look at something. `alert` says what:',
    '',
    '- `impersonation`: an agent used the token of another. The event goes to the tenant of the token’s owner.',
    '- `control_unconfirmed`, `control_failed`: an agent has not confirmed a stop, or could not do it.',
    '- `op_stale`, `op_back`: the agent of a running operation is silent, or is back.',
    '- `reservation_released`: a budget released the reservation of a silent agent’s operation.',
    '- `budget_overrun`: an action cost more than a dollar, and more than ten times its reservation. The cost is booked.',
    '- `tool_definition_changed`: an agent reports that tools are not defined as when they were locked. `changed` says how many, `tool_names` has the first ten.',
    '- `forward_gap`: retention has removed entries, `from_seq` to `through_seq`, before a target of [audit forwarding](../guides/audit-forwarding.md) had them. `target` is its place in `SVC_FORWARD`. Only unbound credentials get this event.',
    '- `clock_set_back`: the clock had been ahead, and budgets are back on the day that it shows. Only unbound credentials get this event.',
    '',
    'The other members of the payload have the same names as in [the audit log](audit-events.md).',
  ].join('\n'),
  policy:
    'Policies came into force, or could not: then `error` says why, and `version` is still in force. `document` is the changed stored document, or null if files changed. A credential that is bound to a tenant gets only changes to documents of that tenant.',
  approval:
    'An approval was requested, got one of several verdicts that it needs (`verdict`), or was decided. `approval` is the whole approval after that.',
  budget: [
    '`change` says what happened:',
    '',
    '- `approached`: a share of a cap, 80 or 95 percent, is used up for the first time in its period.',
    '- `exceeded`: a charge was refused, or waits for an approval, because it would pass a cap. `percent` is null.',
    '- `corrected`: somebody corrected the amount spent.',
    '',
    'Only unbound credentials get events about the global cap.',
  ].join('\n'),
};

const closings: Readonly<Record<keyof typeof closeCodes, string>> = {
  goingAway: 'The gateway is being stopped. Connect again.',
  tooSlow: 'The client reads too slowly. Connect again with `since`, the id of the last event that it has.',
  unauthenticated: 'The credential was revoked or has expired.',
};

/** The events of a stream, and how to follow it. */
export function eventsPage(): string {
  const { schemas } = (openApiDocument('') as { components: { schemas: Record<string, Schema> } }).components;
  const names = new Map([[JSON.stringify(operationIn(schemas['Event'] ?? {})), 'Operation']]);
  const arms = new Map(
    variantsOf(schemas['Event'] ?? {}).map((schema) => [schema.properties?.['event_type']?.const, schema]),
  );
  const known = eventSchema.options.map((option) => option.shape.event_type.value);
  const sections = known.map((type) => {
    const payload = arms.get(type)?.properties?.['payload'] ?? {};
    return section(code(type), meanings[type], `\`\`\`text\npayload: ${members(payload, names)}\n\`\`\``);
  });

  const codes = Object.entries(closeCodes).map(([name, number]) => [
    code(String(number)),
    closings[name as keyof typeof closeCodes],
  ]);
  return page(
    'Events',
    'The gateway sends an event for everything that happens, once it is durable: over a WebSocket at `GET /api/v1/ws/events`, and as Server-Sent Events at `GET /api/v1/events`. Both take the same parameters and send the same events; see [HTTP](http.md#events).',
    '## An event',
    table(
      ['Member', 'Meaning'],
      [
        [
          '`id`',
          'A whole number. Ids grow over the whole gateway. They never repeat and never go back, even over restarts. A filtered stream does not see all of them.',
        ],
        ['`event_type`', 'One of those below.'],
        ['`agent_id`, `org_id`, `team_id`', 'Whose event it is; null if it is nobody’s.'],
        ['`timestamp`', 'When it happened.'],
        ['`payload`', 'What happened, by type.'],
      ],
    ),
    ...sections,

    '## A stream',
    [
      '1. `{"event_type":"hello","cursor":N}`: N is the id of the newest event.',
      '2. `{"event_type":"gap"}`, only if the gateway cannot replay from `since`: it is older than the kept events (the last 16,384, or fewer if their texts are long), or from before a restart. Read the lists anew; the stream continues with what follows.',
      '3. The events after `since`, oldest first. Without `since`, or with a future id, none.',
      '4. What happens from then on. Nothing is lost or doubled in between.',
    ].join('\n'),
    'A credential that is bound to an org or a team sees only its own events, in replay too. `org_id`, `agent_id` and `types` only narrow.',
    '**Credential.** `Authorization: Bearer`. A client that cannot send headers uses a ticket of `POST /api/v1/auth/ws-ticket` in the query. A ticket is good for one stream and for 30 seconds, and only a valid request uses it up. If there is a header, the gateway ignores the ticket. A stream ends with its credential.',
    '**WebSocket.** Each message is one JSON text. The gateway pings every 30 seconds and closes a connection that does not answer. The gateway ignores what clients send, which must be shorter than 4 KiB. There is no subprotocol and no compression.',
    '**Server-Sent Events.** `id` is the id, `event` the type, `data` the same JSON; `hello` and `gap` have no id. `Last-Event-ID` takes precedence over `since`. A comment comes every 15 seconds. When a WebSocket would be closed, the answer ends.',
    '**Slow clients.** Up to 1 MiB waits for each client. The gateway closes a client that reads nothing for three seconds, or falls behind the kept events. A slow client keeps no other waiting.',
    '## Close codes',
    table(['Code', 'Why'], codes),
  );
}

function variantsOf({ anyOf, oneOf }: Schema & { readonly oneOf?: readonly Schema[] }): readonly Schema[] {
  return oneOf ?? anyOf ?? [];
}

/** The operation in `ops_change`, which the page shows by name. */
function operationIn(event: Schema): Schema {
  const change = variantsOf(event).find(({ properties }) => properties?.['event_type']?.const === 'ops_change');
  return change?.properties?.['payload']?.properties?.['op'] ?? {};
}
