import type { ProblemCode } from '@reeve/contract/http';
import { problemStatus } from '@reeve/contract/http';
import { code, page, table } from './page.ts';

type ProblemText = readonly [when: string, remedy: string] | null;

const elsewhere = 'Check the id, and the tenant of the credential: another tenant’s records do not exist for you.';
const later = 'Try again with backoff.';

/** When each problem is answered, and what the caller can do; null if this version never answers it over HTTP. */
const problems: Readonly<Record<ProblemCode, ProblemText>> = {
  bad_request: [
    'The request is not valid HTTP: it has meaningless bytes, no `Host`, or a path that cannot be decoded.',
    'Correct the client.',
  ],
  malformed_json: [
    'The body is not JSON in UTF-8, has a member twice, or is nested deeper than 64.',
    'Correct the body; `detail` says which of these it is.',
  ],
  unauthenticated: [
    'There is no credential, more than one, or one that is wrong, expired or revoked. The answer does not say which.',
    'Send one header `Authorization: Bearer <API key or token>`. Exchange the key for a new token, or get a new key.',
  ],
  insufficient_scope: [
    'The credential lacks the scope that the route needs, or the request asks for a token with more scopes than its key has.',
    '`required_scope` names it. Use a key that has it.',
  ],
  tenant_bound: [
    'The credential is bound to a tenant, and only unbound credentials may do this; or the request would make a key with another binding.',
    'Use an unbound credential, or leave `org_id` and `team_id` out: the new key inherits the binding.',
  ],
  not_found: ['There is nothing at this path.', 'See [the routes](http.md), or `/docs` of the gateway.'],
  key_not_found: ['There is no such API key.', elsewhere],
  agent_not_found: ['There is no such agent, or it is no longer registered.', elsewhere],
  team_not_found: ['There is no such team, or it has no agents.', elsewhere],
  op_not_found: ['There is no such operation: it never existed, or it ended and was swept.', elsewhere],
  control_not_found: ['There is no such control, or it is no longer kept.', elsewhere],
  method_not_allowed: ['The path takes other methods.', 'The header `Allow` names them.'],
  request_timeout: ['The request did not arrive in time.', 'Send it again, whole.'],
  key_revoked: ['The key is revoked, and a revoked key cannot be rotated.', 'Make a new key.'],
  token_in_use: null,
  delegation_not_found: ['The agent acts for nobody: there is no delegation, or it has ended.', elsewhere],
  delegation_too_deep: null,
  delegation_used_up: null,
  not_on_a_floor: null,
  agent_exists: [
    'The agent is registered already. Registering it again would replace its token, and whoever uses the old one would stop working.',
    'Send `"replace": true` if that is wanted, or choose another `agent_id`.',
  ],
  invalid_transition: [
    'The state of the operation does not allow the move, perhaps because somebody else was faster.',
    '`state` is its state, and `allowed` lists the possible moves.',
  ],
  ambiguous_op: [
    'Several agents that the caller may see have an operation with this `trace:span`.',
    'Use the full name: `candidates` lists the first 20 as `org/team/agent/trace:span`. Percent-encode it; `-` stands for an empty org or team.',
  ],
  backup_running: [
    'A backup is being made, and there is one at a time.',
    'Wait until it is done. A client that takes nothing for a minute is cut off.',
  ],
  backup_unsupported: [
    'The gateway does not back up this store: it is PostgreSQL, which has its own tools, or keeps nothing.',
    'See [backup and restore](../operations/backup.md). `detail` says what to use.',
  ],
  idempotency_conflict: [
    'This credential used the `Idempotency-Key` for another request.',
    'Use a new key for a new request.',
  ],
  too_many_agents: [
    'The org has `SVC_MAX_AGENTS_PER_ORG` agents, or their names, metadata and tools take `SVC_MAX_AGENT_MIB_PER_ORG`. `detail` names the setting.',
    'Deregister agents that are not needed, register less metadata and fewer tools, or raise the setting.',
  ],
  too_many_held_runs: [
    'Credentials of one binding hold at most 10,000 runs, and one of them at most 5,000. Nothing has changed: neither the run nor its operations.',
    'Resume runs that no longer need it: `GET /api/v1/runs/controls` lists them, with when each last refused a check. What must stop now: suspend the agent, or control it by `agent_id` without a `run_id`.',
  ],
  too_many_suspensions: [
    'Credentials of one binding hold at most 1,000 suspensions of scopes in force, and one of them at most 500. Nothing has changed.',
    'Lift those that are no longer needed (`GET /api/v1/suspensions` lists them), or suspend a wider scope in their place.',
  ],
  scope_not_found: [
    'No agent is registered in the scope that the request names, as far as the caller may see. Nothing was stopped.',
    'Check the names: `GET /api/v1/topology/overview` lists orgs and teams.',
  ],
  run_not_found: [
    'No run with this id is remembered in this org and team, or none that the caller may see. A run that was quiet for `SVC_RUN_TTL_SECS` is forgotten.',
    'List the runs: `GET /api/v1/runs`. The run of an agent that sends no ids is called `-`, and needs `agent_id`.',
  ],
  suspension_not_found: [
    'No suspension with this id is in force, or none that concerns the caller.',
    'List those in force: `GET /api/v1/suspensions`.',
  ],
  suspended: [
    'The agent’s org or team, or everything, is suspended. What waits for approval goes on waiting.',
    'Reject it, or approve it once the suspension is lifted: `GET /api/v1/suspensions` says who imposed it.',
  ],
  payload_too_large: ['The body is larger than 1 MiB.', 'Send less.'],
  uri_too_long: null,
  unsupported_media_type: ['The body is not JSON, or has no content type.', 'Send `Content-Type: application/json`.'],
  misdirected_request: [
    "The gateway does not answer for the request's `Host`. It answers for the host of the public URL, the listening address, loopback names and `SVC_ALLOWED_HOSTS`. This stops pages that point their own name here.",
    'Call the gateway under one of its own names, or add the name to `SVC_ALLOWED_HOSTS`. A proxy must pass the `Host` on, or set one of these.',
  ],
  validation_failed: [
    'The path, the query or the body has something that the route does not accept. That includes unknown members of the body.',
    '`errors` has a `pointer` and a `detail` for each. Pointers start with `/path`, `/query` or `/headers`; pointers into the body have no such prefix.',
  ],
  upgrade_required: [
    'The request for a WebSocket is no upgrade, or asks for a version other than 13.',
    'Use a WebSocket client, or `GET /api/v1/events`, which is the same stream over HTTP.',
  ],
  registration_closed: [
    'There is an account already, and registration is not open.',
    'Ask an administrator for an invite, or open it with `SVC_AUTH_OPEN_REGISTRATION`.',
  ],
  wrong_credentials: [
    'The email or the password is wrong. The answer does not say which, or whether the account exists or is disabled.',
    'Try again, or reset the password. After five failures the email is locked for a while.',
  ],
  account_locked: [
    'Too many logins under this email have failed, whether or not it has an account.',
    'Wait for as many seconds as `Retry-After` says, or reset the password.',
  ],
  refresh_raced: [
    'Another request has used the same refresh token within the last ten seconds, as two tabs do.',
    'Use the cookie of the other answer. The session continues.',
  ],
  session_ended: ['There is no refresh cookie, or its session has ended or expired.', 'Log in again.'],
  session_not_found: ['There is no open session of yours with this id.', 'List the sessions.'],
  account_required: [
    "The route is about the caller's own account, and the caller is an API key.",
    'Log in with email and password.',
  ],
  owner_required: [
    'Only an owner may make, demote or disable an owner. An API key is never an owner.',
    'Log in as an owner.',
  ],
  last_owner: ['The account is the last active owner.', 'Make another account an owner first.'],
  account_not_found: ['There is no account with this id.', 'List the accounts.'],
  invite_not_found: [
    'There is no open invite with this id: it was accepted, revoked, or has expired.',
    'List the invites, or make a new one.',
  ],
  invalid_token: [
    'The invite or reset token is wrong, used, expired or of another kind. The answer does not say which.',
    'Ask for a new one.',
  ],
  wrong_password: ['The current password is wrong.', 'Try again, or reset the password.'],
  email_taken: [
    'There is an account with this email. At a single sign-on: one that does not belong to this person of the provider.',
    'Log in, or reset the password. At a single sign-on see [linking](../guides/single-sign-on.md#people-who-have-an-account-already).',
  ],
  password_off: [
    'Passwords are off on this gateway (`SVC_AUTH_PASSWORD`), or the account has none because it signs in by single sign-on.',
    'Sign in through single sign-on.',
  ],
  sign_on_off: ['The gateway has no single sign-on.', 'Set `SVC_OIDC_ISSUER`, or log in another way.'],
  sign_on_failed: [
    'The browser has not begun this single sign-on, or too long ago; or the provider refused, or its answer does not hold.',
    'Begin again. If it fails each time, the log of the gateway has what the provider said.',
  ],
  sign_on_unavailable: ['The provider of the single sign-on cannot be reached, or is not as configured.', later],
  no_role: [
    'The claims of the person match no value of `SVC_OIDC_ROLES`, and there is no `SVC_OIDC_DEFAULT_ROLE`.',
    'Add the person to a group that has a role.',
  ],
  email_missing: [
    'The provider has sent no email address for a person without an account.',
    'Ask for the scope `email`, and see that the provider knows the address.',
  ],
  account_disabled: ['The account of the person is disabled.', 'Ask an administrator.'],
  cross_origin: [
    'A browser sent the request from a page of another origin to a route that works with a cookie.',
    "Call it from the dashboard's own origin; see `SVC_PUBLIC_URL`.",
  ],
  weak_password: [
    'The new password is shorter than 12 characters, longer than 256, a common one, or the same as the email or name.',
    '`detail` says which. Four or five unrelated words make a good password.',
  ],
  rate_limited: ['Too many calls in a minute.', 'Wait for as many seconds as `Retry-After` says.'],
  headers_too_large: ['The head of the request is larger than 16 KiB.', 'Send less: a shorter path, fewer cookies.'],
  internal: [
    'An unexpected failure of the gateway.',
    'Report it. The gateway’s log has the details under the request id.',
  ],
  accounts_unavailable: [
    'The gateway has no account store: it runs on `memory:`.',
    'Use an API key, or a durable store.',
  ],
  overloaded: [
    'Too many logins wait for their password to be checked, or the threads that evaluate policies are busy with others.',
    'Wait for as many seconds as `Retry-After` says.',
  ],
  store_unavailable: ['The store cannot be written or read. Nothing was changed.', later],
  shutting_down: ['The gateway is being stopped.', later],
  approval_not_found: ['There is no such approval, or it is no longer kept.', elsewhere],
  already_decided: [
    'The approval has its verdict, has expired, or its operation has ended; or the same person has already decided.',
    '`state` is its state.',
  ],
  own_request: [
    'The agent acts for this person, and a rule says that the verdict comes from somebody else (`not_user`).',
    'Let somebody else decide.',
  ],
  not_an_approver: [
    'A rule says whose verdicts count (`by`), and this caller is none of them.',
    'Let one of those decide whom `approvers` of the approval names.',
  ],
  own_approval: [
    'The credential that registered the agent may not decide about its actions.',
    'Let somebody else decide: a person, or a key that no agent uses.',
  ],
  own_agent: [
    'The credential that registered the agent, or one that comes from it, may not resume the agent or its operation.',
    'Let somebody else resume it: a person, or a key that no agent uses.',
  ],
  imposed_by_wider: [
    'A wider credential imposed what the request would lift or change: `imposed_by` says how wide.',
    'Ask the one who imposed it, or use a credential that is at least as wide.',
  ],
  grant_not_found: ['There is no such standing grant, or it is no longer kept.', elsewhere],
  policy_not_found: ['There is no policy document of this name.', elsewhere],
  policy_version_not_found: [
    'The document has no such version, or that version deleted the document.',
    'List the versions.',
  ],
  policy_invalid: [
    'The text is not a valid policy, or conflicts with the documents in force. Nothing was changed.',
    '`errors` has `file`, `line`, `column` and `message` for each error.',
  ],
  policy_in_file: [
    'A document of this name comes from a file of the gateway.',
    'Change the file, or choose another name.',
  ],
  too_expensive: [
    'Evaluating the text took longer than `SVC_EVALUATION_SECS`, or too much memory.',
    'Send less at once, or simpler conditions and globs.',
  ],
  policy_changed: [
    'Somebody stored another version after the one that you edited (`base_version`).',
    'Read the document again, and apply your change to it.',
  ],
  decision_not_found: ['No decision about such an operation is on record.', elsewhere],
};

/** Every code, with its status. A missing code in the table above is a type error. */
export function problemsPage(): string {
  const all = Object.entries(problems)
    .map(([name, text]) => ({ name, status: problemStatus[name as ProblemCode], text }))
    .sort((a, b) => a.status - b.status);
  const rows = all.flatMap(({ name, status, text }) => (text === null ? [] : [[code(name), `${status}`, ...text]]));
  const reserved = all.filter(({ text }) => text === null).map(({ name, status }) => `${code(name)} (${status})`);
  return page(
    'Problems',
    'Every error over HTTP is `application/problem+json` as in RFC 9457. Programs should use `code`, which is stable; `detail` is for people and may change.',
    table(
      ['Member', 'Meaning'],
      [
        ['`type`', 'Always `about:blank`.'],
        ['`title`', 'The words of the status.'],
        ['`status`', 'The status of the answer.'],
        ['`detail`', 'What is wrong, in a sentence.'],
        ['`instance`', 'The path that was called, without the query.'],
        ['`code`', 'One of those below.'],
        ['`required_scope`', 'With `insufficient_scope`: the missing scope.'],
        ['`state`, `allowed`', 'With `invalid_transition`: the state of the operation, and the possible moves.'],
        ['`candidates`', 'With `ambiguous_op`: the operations that the id may mean, in full.'],
        [
          '`errors`',
          'With `validation_failed`: the errors, each with a JSON pointer. With `policy_invalid`: file, line, column and message of each.',
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
