import { expect, test } from 'vitest';
import { impersonation, withoutAllowed } from './allowed-mentions.ts';

const above = {
  id: { orgId: 'a', teamId: 'one', agentId: 'root' },
  token: '',
  name: '',
  runId: '',
  opId: '',
  controlId: '',
  approvalId: '',
  grantId: '',
};
const team = { orgId: 'a', teamId: 'two', ancestors: [above] };
const org = { orgId: 'a', teamId: null, ancestors: [] };
const parent = { org_id: 'a', team_id: 'one', agent_id: 'root' };

test("an agent's own record may name who stands above it, and nobody else's", () => {
  const leaf = { org_id: 'a', team_id: 'two', agent_id: 'leaf', parent };
  expect(withoutAllowed({ items: [leaf] }, team)).toEqual({ items: [{ ...leaf, parent: null }] });
  const stranger = { ...leaf, parent: { ...parent, agent_id: 'other' } };
  expect(withoutAllowed(stranger, team)).toEqual(stranger);
  const foreign = { ...leaf, team_id: 'one' };
  expect(withoutAllowed(foreign, team)).toEqual(foreign);
});

test("in one's own impersonation, whom one's agent claimed to be, and nothing else", () => {
  const entry = {
    event_type: impersonation,
    lineage: { org_id: 'a', team_id: 'one' },
    reason: 'r',
    payload: { claimed_org_id: 'b', claimed_team_id: 't', claimed_agent_id: 'x', owner_org_id: 'a' },
  };
  expect(withoutAllowed(entry, org)).toEqual({ ...entry, payload: { owner_org_id: 'a' } });
  const others = { ...entry, lineage: { org_id: 'b', team_id: 'one' } };
  expect(withoutAllowed(others, org)).toEqual(others);
  const another = { ...entry, event_type: 'ActionDenied' };
  expect(withoutAllowed(another, org)).toEqual(another);
});

test('in a control of a run in one’s own tenant, the run that was named', () => {
  const control = { run_id: 'b-run', control_id: 'ctl_1', org_id: 'a', team_id: 'two', agent_id: null };
  expect(withoutAllowed({ items: [control] }, team)).toEqual({ items: [{ ...control, run_id: '' }] });
  for (const foreign of [
    { ...control, org_id: 'b' },
    { ...control, team_id: 'one' },
    { ...control, org_id: null },
  ]) {
    expect(withoutAllowed(foreign, team)).toEqual(foreign);
  }
});

test('the same in the alert of a stream', () => {
  const payload = { alert: 'impersonation', claimed_org_id: 'b', owner_org_id: 'a' };
  const alert = { id: 1, event_type: 'audit_alert', org_id: 'a', team_id: 'one', payload };
  const cleared = { ...alert, payload: { alert: 'impersonation', owner_org_id: 'a' } };
  expect(withoutAllowed([alert], org)).toEqual([cleared]);
  expect(withoutAllowed({ ...alert, org_id: 'b' }, org)).toEqual({ ...alert, org_id: 'b' });
});

test('the same in a line of CSV, where the payload is a text', () => {
  const line = { event_type: impersonation, org_id: 'a', team_id: 'one', payload: '{"claimed_org_id":"b","x":"y"}' };
  expect(withoutAllowed([line], org)).toEqual([{ ...line, payload: { x: 'y' } }]);
});

test('lineage and registration may name those above', () => {
  const entry = {
    event_type: 'AgentRegistered',
    lineage: { org_id: 'a', team_id: 'two', parent_agent_id: 'root', root_agent_id: 'root' },
    payload: { parent: 'a/one/root', name: 'leaf' },
  };
  expect(withoutAllowed(entry, team)).toEqual({
    event_type: 'AgentRegistered',
    lineage: { org_id: 'a', team_id: 'two' },
    payload: { parent: null, name: 'leaf' },
  });
  const strange = {
    ...entry,
    payload: { parent: 'a/one/other' },
    lineage: { ...entry.lineage, root_agent_id: 'other' },
  };
  expect(withoutAllowed(strange, team)).toMatchObject({
    payload: strange.payload,
    lineage: { root_agent_id: 'other' },
  });
});
