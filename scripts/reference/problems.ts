import type { ProblemCode } from '@reeve/contract/http';
import { problemStatus } from '@reeve/contract/http';
import { code, page, table } from './page.ts';

type ProblemText = readonly [when: string, remedy: string] | null;

const elsewhere = 'Look at the id, and at whose credential it is: what another tenant has does not exist for you.';
const later = 'Try again with growing pauses.';

/** When each problem is answered, and what the caller can do; null where this version never answers it over HTTP. */
const problems: Readonly<Record<ProblemCode, ProblemText>> = {
  bad_request: [
    'The request is not HTTP as it should be: bytes that make no sense, no `Host`, a path that cannot be decoded.',
    'Mend the client.',
  ],
  malformed_json: [
    'The body is not JSON in UTF-8, has a member twice, or is nested deeper than 64.',
    'Mend the body; `detail` says which of these it is.',
  ],
  unauthenticated: [
    'There is no credential, more than one, or one that is wrong, expired or revoked. Which of these is not told.',
    'Send one header `Authorization: Bearer <API key or token>`. Exchange the key for a new token, or get a new key.',
  ],
  insufficient_scope: [
    'The credential lacks the scope that the route needs, or a token was asked for with more than its key grants.',
    '`required_scope` names it. Use a key that has it.',
  ],
  tenant_bound: [
    'The credential is bound to a tenant, and this belongs to credentials that are not; or a key with another binding was to be made.',
    'Use an unbound credential, or leave `org_id` and `team_id` out: the new key inherits the binding.',
  ],
  not_found: ['There is nothing at this path.', 'See [the routes](http.md), or `/docs` of the gateway.'],
  key_not_found: ['There is no such API key.', elsewhere],
  agent_not_found: ['There is no such agent, or it is not registered any more.', elsewhere],
  team_not_found: ['There is no such team, or it has no agents.', elsewhere],
  op_not_found: ['There is no such operation: it never was, or it ended and has been swept since.', elsewhere],
  control_not_found: ['There is no such control, or it is no longer kept.', elsewhere],
  method_not_allowed: ['The path takes other methods.', 'The header `Allow` names them.'],
  request_timeout: ['The request did not arrive in time.', 'Send it again, whole.'],
  key_revoked: ['A revoked key was to be rotated.', 'Make a new key.'],
  token_in_use: null,
  invalid_transition: [
    'The operation is in a state that does not allow the move, perhaps since somebody else was faster.',
    '`state` says which one it is in, and `allowed` what can be done from there.',
  ],
  ambiguous_op: [
    'Several agents that the caller may see have an operation with this `trace:span`.',
    'Say whose: `candidates` names the first 20 as `org/team/agent/trace:span`. Percent-encode it; `-` stands for an empty org or team.',
  ],
  idempotency_conflict: [
    'The `Idempotency-Key` was used by this credential for another request.',
    'Use a new key for a new request.',
  ],
  payload_too_large: ['The body is larger than 1 MiB.', 'Send less.'],
  uri_too_long: null,
  unsupported_media_type: [
    'The body is something else than JSON, or does not say what it is.',
    'Send `Content-Type: application/json`.',
  ],
  misdirected_request: [
    "The request's `Host` is a name that this gateway does not answer for: not the public URL's, the listening address, a loopback name, or one of `SVC_ALLOWED_HOSTS`. So no page of a stranger can have its own name lead here.",
    'Call it under one of its own names, or add the name to `SVC_ALLOWED_HOSTS`. A proxy must pass the `Host` on, or set one of these.',
  ],
  validation_failed: [
    'Something in the path, the query or the body is not what the route takes. An unknown member of the body is such a thing, too.',
    '`errors` has a `pointer` and a `detail` for each. Pointers start with `/path`, `/query` or `/headers`; those into the body do not.',
  ],
  upgrade_required: [
    'A WebSocket was asked for as if it were a page, or in another version than 13.',
    'Use a WebSocket client, or `GET /api/v1/events`, which is the same stream over HTTP.',
  ],
  registration_closed: [
    'There is an account already, and registration is not open.',
    'Ask an administrator for an invite, or open it with `SVC_AUTH_OPEN_REGISTRATION`.',
  ],
  wrong_credentials: [
    'The email or the password is wrong. Which of them is not told, nor whether the account exists or is disabled.',
    'Try again, or reset the password. After five failures the email is locked for a while.',
  ],
  account_locked: [
    'Too many logins under this email have failed, whether or not it has an account.',
    'Wait for as many seconds as `Retry-After` says, or reset the password.',
  ],
  refresh_raced: [
    'Another request has used the same refresh token within the last ten seconds, as two tabs do.',
    'Use the cookie that the other request was given. The session goes on.',
  ],
  session_ended: ['There is no refresh cookie, or its session has ended or expired.', 'Log in again.'],
  session_not_found: ['There is no open session of yours with this id.', 'List the sessions.'],
  account_required: [
    "The route is about the caller's own account, and the caller is an API key.",
    'Log in with email and password.',
  ],
  owner_required: [
    'Only an owner may make, demote or disable an owner; an API key never is one.',
    'Log in as an owner.',
  ],
  last_owner: ['The account is the last active owner.', 'Make another account an owner first.'],
  account_not_found: ['There is no account with this id.', 'List the accounts.'],
  invite_not_found: [
    'There is no open invite with this id: it was accepted, revoked, or has expired.',
    'List the invites, or make a new one.',
  ],
  invalid_token: [
    'The invite or reset token is wrong, used, expired or of another kind. Which of these is not told.',
    'Ask for a new one.',
  ],
  wrong_password: ['The current password is wrong.', 'Try again, or reset the password.'],
  email_taken: ['There is an account with this email.', 'Log in, or reset the password.'],
  cross_origin: [
    'A browser sent the request from a page of another origin to a route that works with a cookie.',
    "Call it from the dashboard's own origin; see `SVC_PUBLIC_URL`.",
  ],
  weak_password: [
    'The new password is shorter than 12 characters, longer than 256, among the common ones, or the email or name again.',
    '`detail` says which. A sentence of four or five unrelated words is a good one.',
  ],
  rate_limited: ['Too many calls in a minute.', 'Wait for as many seconds as `Retry-After` says.'],
  headers_too_large: ['The head of the request is larger than 16 KiB.', 'Send less: a shorter path, fewer cookies.'],
  internal: [
    'Something that nobody foresaw.',
    'Report it. The log of the gateway has the details under the request id.',
  ],
  accounts_unavailable: [
    'An account endpoint where there is no account store: the gateway runs on `memory:`.',
    'Use an API key, or a store that lasts.',
  ],
  overloaded: [
    'Too many logins wait for their password to be checked, or the threads that evaluate policies are busy with others.',
    'Wait for as many seconds as `Retry-After` says.',
  ],
  store_unavailable: ['The store cannot be written or read. Nothing was changed.', later],
  shutting_down: ['The gateway is being stopped.', later],
  approval_not_found: ['There is no such approval, or it is no longer kept.', elsewhere],
  already_decided: [
    'The approval has its verdict, has expired, or its operation has ended; or the same person has spoken already.',
    '`state` says what became of it.',
  ],
  own_approval: [
    'The credential that registered the agent was to give the verdict about its action.',
    'Let somebody else decide: a person, or a key that no agent uses.',
  ],
  own_agent: [
    'The credential that registered the agent, or one that comes from it, was to resume the agent or its operation.',
    'Let somebody else resume it: a person, or a key that no agent uses.',
  ],
  imposed_by_wider: [
    'What was to be lifted or changed was imposed with a credential that is bound more widely: `imposed_by` says how.',
    'Ask whoever imposed it, or use a credential that is at least as wide.',
  ],
  grant_not_found: ['There is no such standing grant, or it is no longer kept.', elsewhere],
  policy_not_found: ['There is no policy document of this name.', elsewhere],
  policy_version_not_found: ['The document has no such version, or it took the document away.', 'List the versions.'],
  policy_invalid: [
    'The text is no policy, or does not go together with the documents in force. Nothing was changed.',
    '`errors` has `file`, `line`, `column` and `message` for each thing that is wrong.',
  ],
  policy_in_file: [
    'A document of this name comes from a file of the gateway.',
    'Change the file, or choose another name.',
  ],
  too_expensive: [
    'Evaluating the text took longer than `SVC_EVALUATION_SECS`, or more memory than it may.',
    'Send less at once, or simpler conditions and globs.',
  ],
  policy_changed: [
    'Another version was stored since the one that was edited (`base_version`).',
    'Read the document again, and put the change on top of it.',
  ],
  decision_not_found: ['No decision about such an operation is on record.', elsewhere],
};

/** Every code, with its status. The table above does not compile while one is missing. */
export function problemsPage(): string {
  const all = Object.entries(problems)
    .map(([name, text]) => ({ name, status: problemStatus[name as ProblemCode], text }))
    .sort((a, b) => a.status - b.status);
  const rows = all.flatMap(({ name, status, text }) => (text === null ? [] : [[code(name), `${status}`, ...text]]));
  const reserved = all.filter(({ text }) => text === null).map(({ name, status }) => `${code(name)} (${status})`);
  return page(
    'Problems',
    'Every error over HTTP is `application/problem+json` as in RFC 9457. Programs go by `code`, which is stable; `detail` is for people and may change.',
    table(
      ['Member', 'Meaning'],
      [
        ['`type`', 'Always `about:blank`.'],
        ['`title`', 'The words of the status.'],
        ['`status`', 'The status of the answer.'],
        ['`detail`', 'What is wrong, in a sentence.'],
        ['`instance`', 'The path that was called, without the query.'],
        ['`code`', 'One of those below.'],
        ['`required_scope`', 'With `insufficient_scope`: the scope that is missing.'],
        [
          '`state`, `allowed`',
          'With `invalid_transition`: the state of the operation, and what can be done from there.',
        ],
        ['`candidates`', 'With `ambiguous_op`: the operations that the id may mean, in full.'],
        [
          '`errors`',
          'With `validation_failed`: what is wrong, each with a JSON pointer. With `policy_invalid`: file, line, column and message of each.',
        ],
        [
          '`draining`, `parts`',
          'With 503 of `/readyz`: whether the gateway is being stopped, and the state of each part.',
        ],
      ],
    ),
    '401 carries `WWW-Authenticate: Bearer`, 405 `Allow`, 429 and the 503 `overloaded` `Retry-After`.',
    '## Codes',
    table(['Code', 'Status', 'When', 'What to do'], rows),
    `Reserved, and not answered over HTTP by this version: ${reserved.join(', ')}.`,
    'Over gRPC the same errors are status codes; see [the guide](../guides/agents-in-other-languages.md).',
  );
}
