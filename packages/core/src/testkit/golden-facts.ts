import type { Fact } from '../facts.ts';
import type { NameOf } from '../journal/meaning.ts';

/**
 * The text of a fact with all of its members (`wholeFacts`), in each form that was ever released, the newest last. A kind
 * that is missing does not compile. A text that was released is never edited or removed: what it says is in stores.
 */
export const goldenFacts: Readonly<Record<NameOf<Fact>, readonly string[]>> = {
  agent: ['[2,1700000000008,[],[],0,[],[["agent",0,["acme","red","one"],"registered"]]]'],
  agent_controlled: ['[2,0,[],[],0,[],[["agent_controlled",["acme","red","one"],"agent_controlled.tokenHash"]]]'],
  agent_removed: ['[2,0,[],[],0,[],[["agent_removed",["acme","red","one"],1,1]]]'],
  agent_resumed: ['[2,0,[],[],0,[],[["agent_resumed",["acme","red","one"],"team"]]]'],
  agent_saved: [
    '[2,1700000000030,[],[],0,[],[["agent_saved",[["acme","red","one"],"agent_saved.agent.tokenHash","agent_saved.agent.name","agent_saved.agent.framework","agent_saved.agent.version",["acme","red","one"],["__name","agent_saved.agent.metadata.__name"],["agent_saved.agent.toolNames.0","agent_saved.agent.toolNames.1"],0,[1,"agent_saved.agent.suspension.reason","team"],1,["agent_saved.agent.registeredWith.0","agent_saved.agent.registeredWith.1"],[35,7,[["agent_saved.agent.tokenLife.former.0.hash",12],["agent_saved.agent.tokenLife.former.1.hash",12]]]]]]]',
  ],
  agent_suspended: [
    '[2,1700000000034,[],[],0,[],[["agent_suspended",[["acme","red","one"],"agent_suspended.agent.tokenHash","agent_suspended.agent.name","agent_suspended.agent.framework","agent_suspended.agent.version",["acme","red","one"],["__name","agent_suspended.agent.metadata.__name"],["agent_suspended.agent.toolNames.0","agent_suspended.agent.toolNames.1"],0,[1,"agent_suspended.agent.suspension.reason","team"],1,["agent_suspended.agent.registeredWith.0","agent_suspended.agent.registeredWith.1"],[39,7,[["agent_suspended.agent.tokenLife.former.0.hash",12],["agent_suspended.agent.tokenLife.former.1.hash",12]]]],[-5,"agent_suspended.suspension.reason","team"]]]]',
  ],
  agent_used: [
    '[2,1700000000038,[],[],0,[],[["agent_used",[["acme","red","one"],[[[0,-1,["agent_used.use.usage.doors.sdk.names.0","agent_used.use.usage.doors.sdk.names.1"]],[0,-1,["agent_used.use.usage.doors.mcp.names.0","agent_used.use.usage.doors.mcp.names.1"]],[2,1,["agent_used.use.usage.doors.model.names.0","agent_used.use.usage.doors.model.names.1"]],[1,0,["agent_used.use.usage.doors.hook.names.0","agent_used.use.usage.doors.hook.names.1"]]],[[5,4],[11,10]]]]]]]',
  ],
  agent_uses_removed: ['[2,0,[],[],0,[],[["agent_uses_removed",["acme","red","one"]]]]'],
  api_key_saved: [
    '[2,1700000000027,[],[],0,[],[["api_key_saved",["api_key_saved.key.id","api_key_saved.key.hash","api_key_saved.key.label",["read","read"],"api_key_saved.key.orgId","api_key_saved.key.teamId",0,0,1,0,["account","api_key_saved.key.madeBy.id"],"api_key_saved.key.rotatedFrom"]]]]',
  ],
  api_key_used: ['[2,1700000000015,[],[],0,[],[["api_key_used","api_key_used.id",0]]]'],
  approval: [
    '[2,1700000000011,[],[],0,["approval.approval.opId"],[["approval",0,["acme","red","one"],"requested",["approval.approval.id","open",["acme","red","one"],0,"llm_call","approval.approval.resource","approval.approval.coverDigest","approval.approval.covers","approval.approval.summary","approval.approval.runId",["approval.approval.user.issuer","approval.approval.user.sub","approval.approval.user.email"],"approval.approval.action","approval.approval.digest","approval.approval.policyRule",["approval.approval.rules.0","approval.approval.rules.1"],1,1,[[["owner","owner"],["approval.approval.by.0.emails.0","approval.approval.by.0.emails.1"]],[["owner","owner"],["approval.approval.by.1.emails.0","approval.approval.by.1.emails.1"]]],1,"approval.approval.policyVersion","approval.approval.reason","rule","team",28,18,16,26,[["approve",["approval.approval.verdicts.0.actor.id","agent","approval.approval.verdicts.0.actor.label"],["approval.approval.verdicts.0.people.0","approval.approval.verdicts.0.people.1"],1,"approval.approval.verdicts.0.reason",20,["until",29]],["approve",["approval.approval.verdicts.1.actor.id","agent","approval.approval.verdicts.1.actor.label"],["approval.approval.verdicts.1.people.0","approval.approval.verdicts.1.people.1"],1,"approval.approval.verdicts.1.reason",20,["until",29]]],16,"approval.approval.grantId",32,["requested","requested"]]]]]',
  ],
  approval_saved: [
    '[2,1700000000035,[],[],0,["approval_saved.approval.opId"],[["approval_saved",["approval_saved.approval.id","open",["acme","red","one"],0,"llm_call","approval_saved.approval.resource","approval_saved.approval.coverDigest","approval_saved.approval.covers","approval_saved.approval.summary","approval_saved.approval.runId",["approval_saved.approval.user.issuer","approval_saved.approval.user.sub","approval_saved.approval.user.email"],"approval_saved.approval.action","approval_saved.approval.digest","approval_saved.approval.policyRule",["approval_saved.approval.rules.0","approval_saved.approval.rules.1"],1,1,[[["owner","owner"],["approval_saved.approval.by.0.emails.0","approval_saved.approval.by.0.emails.1"]],[["owner","owner"],["approval_saved.approval.by.1.emails.0","approval_saved.approval.by.1.emails.1"]]],1,"approval_saved.approval.policyVersion","approval_saved.approval.reason","rule","team",34,0,-2,32,[["approve",["approval_saved.approval.verdicts.0.actor.id","agent","approval_saved.approval.verdicts.0.actor.label"],["approval_saved.approval.verdicts.0.people.0","approval_saved.approval.verdicts.0.people.1"],1,"approval_saved.approval.verdicts.0.reason",2,["until",11]],["approve",["approval_saved.approval.verdicts.1.actor.id","agent","approval_saved.approval.verdicts.1.actor.label"],["approval_saved.approval.verdicts.1.people.0","approval_saved.approval.verdicts.1.people.1"],1,"approval_saved.approval.verdicts.1.reason",2,["until",11]]],-2,"approval_saved.approval.grantId",38,["requested","requested"]]]]]',
  ],
  approvals_removed: ['[2,1700000000024,[],[],0,[],[["approvals_removed",0,22,22]]]'],
  audit_alert: [
    '[2,1700000000014,[],[],0,[],[["audit_alert",0,["acme","red","one"],"control_unconfirmed",{"audit_alert.details":[null,1.5,"x"]},"audit_alert.movedBackTo",["audit_alert.reported.0","audit_alert.reported.1"]]]]',
  ],
  backup_taken: ['[2,1700000000015,[],[],0,[],[["backup_taken",0]]]'],
  balances_saved: [
    '[2,1700000000032,[],[],0,[],[["balances_saved",[[["global","balances_saved.saved.0.of.orgId","balances_saved.saved.0.of.teamId","balances_saved.saved.0.of.agentId"],["1152921504606847008","1152921504606847010"],["balances_saved.saved.0.window.day","balances_saved.saved.0.window.month"],[34,36],26,[[["balances_saved.saved.0.earlier.day.0.id","1152921504606847018",44],["balances_saved.saved.0.earlier.day.1.id","1152921504606847018",44]],[["balances_saved.saved.0.earlier.month.0.id","1152921504606847020",46],["balances_saved.saved.0.earlier.month.1.id","1152921504606847020",46]]]],[["global","balances_saved.saved.1.of.orgId","balances_saved.saved.1.of.teamId","balances_saved.saved.1.of.agentId"],["1152921504606847008","1152921504606847010"],["balances_saved.saved.1.window.day","balances_saved.saved.1.window.month"],[34,36],26,[[["balances_saved.saved.1.earlier.day.0.id","1152921504606847018",44],["balances_saved.saved.1.earlier.day.1.id","1152921504606847018",44]],[["balances_saved.saved.1.earlier.month.0.id","1152921504606847020",46],["balances_saved.saved.1.earlier.month.1.id","1152921504606847020",46]]]]],[["global","balances_saved.over.0.orgId","balances_saved.over.0.teamId","balances_saved.over.0.agentId"],["global","balances_saved.over.1.orgId","balances_saved.over.1.teamId","balances_saved.over.1.agentId"]],[[["global","balances_saved.closed.0.of.orgId","balances_saved.closed.0.of.teamId","balances_saved.closed.0.of.agentId"],"day","balances_saved.closed.0.id",0,-2,"1152921504606847011",35],[["global","balances_saved.closed.1.of.orgId","balances_saved.closed.1.of.teamId","balances_saved.closed.1.of.agentId"],"day","balances_saved.closed.1.id",0,-2,"1152921504606847011",35]],["balances_saved.closedBefore.day","balances_saved.closedBefore.month"],[23,"balances_saved.asOf.timeZone"]]]]',
  ],
  budget: [
    '[2,1700000000009,[],[],0,[],[["budget",0,["global","budget.of.orgId","budget.of.teamId","budget.of.agentId"],"approached","day","budget.day","1152921504606846995",14,18,"1152921504606846994"]]]',
  ],
  bulk_control_saved: [
    '[2,1700000000035,[],[],0,[],[["bulk_control_saved",["bulk_control_saved.bulk.id","pause",[1,"bulk_control_saved.bulk.scope.orgId","bulk_control_saved.bulk.scope.teamId","bulk_control_saved.bulk.scope.agentId","bulk_control_saved.bulk.scope.runId"],"bulk_control_saved.bulk.reason",["bulk_control_saved.bulk.actor.id","agent","bulk_control_saved.bulk.actor.label"],"bulk_control_saved.bulk.orgId","bulk_control_saved.bulk.teamId",0,31,31,31,1,["bulk_control_saved.bulk.idempotency.key","bulk_control_saved.bulk.idempotency.digest"]]]]]',
  ],
  control_sequence_saved: ['[2,0,[],[],0,[],[["control_sequence_saved",[["acme","red","one"],40]]]]'],
  decision: [
    '[2,1700000000011,[],[],0,["decision.opId"],[["decision",0,["acme","red","one"],"allow","decision.reason","decision.policyRule",0]]]',
  ],
  delegation_ended: [
    '[2,1700000000037,[],[],0,[],[["delegation_ended",[["acme","red","one"],"delegation_ended.delegation.by",0,0,["delegation_ended.delegation.actions.0","delegation_ended.delegation.actions.1"],["delegation_ended.delegation.tools.0","delegation_ended.delegation.tools.1"],41,37,34,41,-2],"delegation_ended.reason"]]]',
  ],
  delegation_removed: ['[2,0,[],[],0,[],[["delegation_removed",["acme","red","one"]]]]'],
  delegation_saved: [
    '[2,1700000000037,[],[],0,[],[["delegation_saved",[["acme","red","one"],"delegation_saved.delegation.by",0,0,["delegation_saved.delegation.actions.0","delegation_saved.delegation.actions.1"],["delegation_saved.delegation.tools.0","delegation_saved.delegation.tools.1"],41,37,34,41,-2]]]]',
  ],
  delegation_used: [
    '[2,1700000000036,[],[],0,[],[["delegation_used",[["acme","red","one"],"delegation_used.delegation.by",0,0,["delegation_used.delegation.actions.0","delegation_used.delegation.actions.1"],["delegation_used.delegation.tools.0","delegation_used.delegation.tools.1"],40,36,33,40,-2]]]]',
  ],
  departure_removed: [
    '[2,1700000000030,[],[],0,[],[["departure_removed",["departure_removed.departure.orgId","departure_removed.departure.teamId","departure_removed.departure.agentId","departure_removed.departure.credentialId",0]]]]',
  ],
  departure_saved: [
    '[2,1700000000028,[],[],0,[],[["departure_saved",["departure_saved.departure.orgId","departure_saved.departure.teamId","departure_saved.departure.agentId","departure_saved.departure.credentialId",0]]]]',
  ],
  entries_removed: ['[2,0,[],[],0,[],[["entries_removed",23]]]'],
  event_ids_reserved: ['[2,0,[],[],0,[],[["event_ids_reserved",26]]]'],
  grant_saved: [
    '[2,1700000000027,[],[],0,[],[["grant_saved",["grant_saved.grant.id","grant_saved.grant.approvalId",["acme","red","one"],"grant_saved.grant.policyRule",["grant_saved.grant.rules.0","grant_saved.grant.rules.1"],27,1,[[["owner","owner"],["grant_saved.grant.by.0.emails.0","grant_saved.grant.by.0.emails.1"]],[["owner","owner"],["grant_saved.grant.by.1.emails.0","grant_saved.grant.by.1.emails.1"]]],1,"llm_call","grant_saved.grant.resource","grant_saved.grant.coverDigest","grant_saved.grant.covers","run","grant_saved.grant.runId",0,["grant_saved.grant.grantedBy.id","agent","grant_saved.grant.grantedBy.label"],"grant_saved.grant.reason",0,22,1,0]]]]',
  ],
  op_asked: [
    '[2,1700000000024,[],[],0,["op_asked.op.opId","op_asked.op.control.opId"],[["op_asked",[0,["acme","red","one"],"pending",0,-3,"llm_call","op_asked.op.resource","op_asked.op.summary","op_asked.op.runId","op_asked.op.reason",22,26,"op_asked.op.policyRule","op_asked.op.digest",[29,30,35],["mcp","op_asked.op.via.name"],["op_asked.op.delegators.0","op_asked.op.delegators.1"],["op_asked.op.control.id","op_asked.op.control.bulkId",["acme","red","one"],1,"pause",["op_asked.op.control.actor.id","agent","op_asked.op.control.actor.label"],"op_asked.op.control.reason","operator","team",1,28,7,7,3,7,"requested","op_asked.op.control.detail",1,1],1]]]]',
    '[2,1700000000024,[],[],0,["op_asked.op.opId","op_asked.op.control.opId"],[["op_asked",[0,["acme","red","one"],"pending",0,-3,"llm_call","op_asked.op.resource","op_asked.op.summary","op_asked.op.runId","op_asked.op.reason",22,26,"op_asked.op.policyRule","op_asked.op.digest",[29,30,35],["mcp","op_asked.op.via.name"],["op_asked.op.delegators.0","op_asked.op.delegators.1"],["op_asked.op.control.id","op_asked.op.control.bulkId",["acme","red","one"],1,"pause",["op_asked.op.control.actor.id","agent","op_asked.op.control.actor.label"],"op_asked.op.control.reason","operator","team",1,28,7,7,3,7,"requested","op_asked.op.control.detail",1,1,1,29],1,1]]]]',
    '[2,1700000000024,[],[],0,["op_asked.op.opId","op_asked.op.control.opId"],[["op_asked",[0,["acme","red","one"],"pending",0,-3,"llm_call","op_asked.op.resource","op_asked.op.summary","op_asked.op.runId","op_asked.op.reason",22,26,"op_asked.op.policyRule","op_asked.op.digest",[29,30,35],["mcp","op_asked.op.via.name"],["op_asked.op.delegators.0","op_asked.op.delegators.1"],["op_asked.op.control.id","op_asked.op.control.bulkId",["acme","red","one"],1,"pause",["op_asked.op.control.actor.id","agent","op_asked.op.control.actor.label"],"op_asked.op.control.reason","operator","team",1,28,7,7,3,7,"requested","op_asked.op.control.detail",1,1,1,29],1,1,[1,[["op_asked.op.resultDuty.unjudged.0.name","run","op_asked.op.resultDuty.unjudged.0.policyRule"],["op_asked.op.resultDuty.unjudged.1.name","run","op_asked.op.resultDuty.unjudged.1.policyRule"]]]]]]]',
    '[2,1700000000024,[],[],0,["op_asked.op.opId","op_asked.op.control.opId"],[["op_asked",[0,["acme","red","one"],"pending",0,-3,"llm_call","op_asked.op.resource","op_asked.op.summary","op_asked.op.runId","op_asked.op.reason",22,26,"op_asked.op.policyRule","op_asked.op.digest",[29,30,35],["mcp","op_asked.op.via.name"],["op_asked.op.delegators.0","op_asked.op.delegators.1"],["op_asked.op.control.id","op_asked.op.control.bulkId",["acme","red","one"],1,"pause",["op_asked.op.control.actor.id","agent","op_asked.op.control.actor.label"],"op_asked.op.control.reason","operator","team",1,28,7,7,3,7,"requested","op_asked.op.control.detail",1,1,1,29],1,1,[1,[["op_asked.op.resultDuty.unjudged.0.name","run","op_asked.op.resultDuty.unjudged.0.policyRule"],["op_asked.op.resultDuty.unjudged.1.name","run","op_asked.op.resultDuty.unjudged.1.policyRule"]]],[["op_asked.op.owedLabels.0.name","run","op_asked.op.owedLabels.0.policyRule"],["op_asked.op.owedLabels.1.name","run","op_asked.op.owedLabels.1.policyRule"]]]]]]',
  ],
  op_removed: ['[2,0,[],[],0,["op_removed.opId"],[["op_removed",["acme","red","one"],0]]]'],
  op_result_judged: ['[2,0,[],[],0,["op_result_judged.opId"],[["op_result_judged",["acme","red","one"],0]]]'],
  op_saved: [
    '[2,1700000000024,[],[],0,["op_saved.op.opId"],[["op_saved",[15,0,["acme","red","one"],"pending",0,-3,"llm_call","op_saved.op.resource","op_saved.op.summary","op_saved.op.runId","op_saved.op.reason",22,26,"op_saved.op.policyRule","op_saved.op.digest",[29,30,35],["mcp","op_saved.op.via.name"],["op_saved.op.delegators.0","op_saved.op.delegators.1"],"op_saved.op.controlId"]]]]',
    '[2,1700000000024,[],[],0,["op_saved.op.opId"],[["op_saved",[15,0,["acme","red","one"],"pending",0,-3,"llm_call","op_saved.op.resource","op_saved.op.summary","op_saved.op.runId","op_saved.op.reason",22,26,"op_saved.op.policyRule","op_saved.op.digest",[29,30,35],["mcp","op_saved.op.via.name"],["op_saved.op.delegators.0","op_saved.op.delegators.1"],"op_saved.op.controlId",1]]]]',
    '[2,1700000000024,[],[],0,["op_saved.op.opId"],[["op_saved",[15,0,["acme","red","one"],"pending",0,-3,"llm_call","op_saved.op.resource","op_saved.op.summary","op_saved.op.runId","op_saved.op.reason",22,26,"op_saved.op.policyRule","op_saved.op.digest",[29,30,35],["mcp","op_saved.op.via.name"],["op_saved.op.delegators.0","op_saved.op.delegators.1"],"op_saved.op.controlId",1,[1,[["op_saved.op.resultDuty.unjudged.0.name","run","op_saved.op.resultDuty.unjudged.0.policyRule"],["op_saved.op.resultDuty.unjudged.1.name","run","op_saved.op.resultDuty.unjudged.1.policyRule"]]]]]]]',
    '[2,1700000000024,[],[],0,["op_saved.op.opId"],[["op_saved",[15,0,["acme","red","one"],"pending",0,-3,"llm_call","op_saved.op.resource","op_saved.op.summary","op_saved.op.runId","op_saved.op.reason",22,26,"op_saved.op.policyRule","op_saved.op.digest",[29,30,35],["mcp","op_saved.op.via.name"],["op_saved.op.delegators.0","op_saved.op.delegators.1"],"op_saved.op.controlId",1,[1,[["op_saved.op.resultDuty.unjudged.0.name","run","op_saved.op.resultDuty.unjudged.0.policyRule"],["op_saved.op.resultDuty.unjudged.1.name","run","op_saved.op.resultDuty.unjudged.1.policyRule"]]],[["op_saved.op.owedLabels.0.name","run","op_saved.op.owedLabels.0.policyRule"],["op_saved.op.owedLabels.1.name","run","op_saved.op.owedLabels.1.policyRule"]]]]]]',
  ],
  labels_cleared: [
    '[2,0,[],[],0,[],[["labels_cleared","run",["labels_cleared.place.orgId","labels_cleared.place.teamId","labels_cleared.place.runId","labels_cleared.place.agentId"],["labels_cleared.names.0","labels_cleared.names.1"]]]]',
  ],
  labels_given: [
    '[2,1700000000027,[],[],0,["labels_given.labels.0.opId","labels_given.labels.1.opId"],[["labels_given","run",["labels_given.place.orgId","labels_given.place.teamId","labels_given.place.runId","labels_given.place.agentId"],["acme","red","one"],[["labels_given.labels.0.name",0,0,"labels_given.labels.0.policyRule"],["labels_given.labels.1.name",0,1,"labels_given.labels.1.policyRule"]]]]]',
  ],
  ops_change: [
    '[2,1700000000013,[],[],0,["ops_change.op.opId","ops_change.op.control.opId"],[["ops_change",0,["acme","red","one"],[0,["acme","red","one"],"pending",13,10,"llm_call","ops_change.op.resource","ops_change.op.summary","ops_change.op.runId","ops_change.op.reason",24,28,"ops_change.op.policyRule","ops_change.op.digest",[31,32,37],["mcp","ops_change.op.via.name"],["ops_change.op.delegators.0","ops_change.op.delegators.1"],["ops_change.op.control.id","ops_change.op.control.bulkId",["acme","red","one"],1,"pause",["ops_change.op.control.actor.id","agent","ops_change.op.control.actor.label"],"ops_change.op.control.reason","operator","team",1,30,20,20,16,20,"requested","ops_change.op.control.detail",1,1],1],"ops_change.booked"]]]',
    '[2,1700000000013,[],[],0,["ops_change.op.opId","ops_change.op.control.opId"],[["ops_change",0,["acme","red","one"],[0,["acme","red","one"],"pending",13,10,"llm_call","ops_change.op.resource","ops_change.op.summary","ops_change.op.runId","ops_change.op.reason",24,28,"ops_change.op.policyRule","ops_change.op.digest",[31,32,37],["mcp","ops_change.op.via.name"],["ops_change.op.delegators.0","ops_change.op.delegators.1"],["ops_change.op.control.id","ops_change.op.control.bulkId",["acme","red","one"],1,"pause",["ops_change.op.control.actor.id","agent","ops_change.op.control.actor.label"],"ops_change.op.control.reason","operator","team",1,30,20,20,16,20,"requested","ops_change.op.control.detail",1,1],1],"ops_change.booked",1]]]',
    '[2,1700000000013,[],[],0,["ops_change.op.opId","ops_change.op.control.opId"],[["ops_change",0,["acme","red","one"],[0,["acme","red","one"],"pending",13,10,"llm_call","ops_change.op.resource","ops_change.op.summary","ops_change.op.runId","ops_change.op.reason",24,28,"ops_change.op.policyRule","ops_change.op.digest",[31,32,37],["mcp","ops_change.op.via.name"],["ops_change.op.delegators.0","ops_change.op.delegators.1"],["ops_change.op.control.id","ops_change.op.control.bulkId",["acme","red","one"],1,"pause",["ops_change.op.control.actor.id","agent","ops_change.op.control.actor.label"],"ops_change.op.control.reason","operator","team",1,30,20,20,16,20,"requested","ops_change.op.control.detail",1,1,1,31],1,1],"ops_change.booked",1]]]',
    '[2,1700000000013,[],[],0,["ops_change.op.opId","ops_change.op.control.opId"],[["ops_change",0,["acme","red","one"],[0,["acme","red","one"],"pending",13,10,"llm_call","ops_change.op.resource","ops_change.op.summary","ops_change.op.runId","ops_change.op.reason",24,28,"ops_change.op.policyRule","ops_change.op.digest",[31,32,37],["mcp","ops_change.op.via.name"],["ops_change.op.delegators.0","ops_change.op.delegators.1"],["ops_change.op.control.id","ops_change.op.control.bulkId",["acme","red","one"],1,"pause",["ops_change.op.control.actor.id","agent","ops_change.op.control.actor.label"],"ops_change.op.control.reason","operator","team",1,30,20,20,16,20,"requested","ops_change.op.control.detail",1,1,1,31],1,1,[1,[["ops_change.op.resultDuty.unjudged.0.name","run","ops_change.op.resultDuty.unjudged.0.policyRule"],["ops_change.op.resultDuty.unjudged.1.name","run","ops_change.op.resultDuty.unjudged.1.policyRule"]]]],"ops_change.booked",1]]]',
    '[2,1700000000013,[],[],0,["ops_change.op.opId","ops_change.op.control.opId"],[["ops_change",0,["acme","red","one"],[0,["acme","red","one"],"pending",13,10,"llm_call","ops_change.op.resource","ops_change.op.summary","ops_change.op.runId","ops_change.op.reason",24,28,"ops_change.op.policyRule","ops_change.op.digest",[31,32,37],["mcp","ops_change.op.via.name"],["ops_change.op.delegators.0","ops_change.op.delegators.1"],["ops_change.op.control.id","ops_change.op.control.bulkId",["acme","red","one"],1,"pause",["ops_change.op.control.actor.id","agent","ops_change.op.control.actor.label"],"ops_change.op.control.reason","operator","team",1,30,20,20,16,20,"requested","ops_change.op.control.detail",1,1,1,31],1,1,[1,[["ops_change.op.resultDuty.unjudged.0.name","run","ops_change.op.resultDuty.unjudged.0.policyRule"],["ops_change.op.resultDuty.unjudged.1.name","run","ops_change.op.resultDuty.unjudged.1.policyRule"]]],[["ops_change.op.owedLabels.0.name","run","ops_change.op.owedLabels.0.policyRule"],["ops_change.op.owedLabels.1.name","run","ops_change.op.owedLabels.1.policyRule"]]],"ops_change.booked",1]]]',
  ],
  ops_forgotten: ['[2,0,[],[],0,[],[["ops_forgotten"]]]'],
  ops_replay_from: ['[2,0,[],[],0,[],[["ops_replay_from",19]]]'],
  owed_entry_recorded: ['[2,0,[],[],0,[],[["owed_entry_recorded","owed_entry_recorded.id"]]]'],
  policy: [
    '[2,1700000000009,[],[],0,[],[["policy",0,"policy.version","policy.error",["policy.document.name",23,["global"],"put"]]]]',
  ],
  policy_saved: [
    '[2,1700000000026,[],[],0,[],[["policy_saved",["policy_saved.saved.name",26,"policy_saved.saved.source","policy_saved.saved.scope",0,["policy_saved.saved.savedBy.id","agent","policy_saved.saved.savedBy.label"],"policy_saved.saved.note","team","team"]]]]',
  ],
  policy_set_saved: [
    '[2,1700000000023,[],[],0,[],[["policy_set_saved",["policy_set_saved.set.version",0,[["policy_set_saved.set.sources.0.file","policy_set_saved.set.sources.0.text","policy_set_saved.set.sources.0.hash","policy_set_saved.set.sources.0.name","team","policy_set_saved.set.sources.0.namespace"],["policy_set_saved.set.sources.1.file","policy_set_saved.set.sources.1.text","policy_set_saved.set.sources.1.hash","policy_set_saved.set.sources.1.name","team","policy_set_saved.set.sources.1.namespace"]]]]]]',
  ],
  rates_counted: [
    '[2,1700000000016,[],[],0,[],[["rates_counted",["acme","red","one"],0,["rates_counted.counted.0","rates_counted.counted.1"],[["rates_counted.told.0.key",28],["rates_counted.told.1.key",28]]]]]',
  ],
  rates_saved: [
    '[2,1700000000038,[],[],0,[],[["rates_saved",[["rates_saved.saved.0.name",[[34,34],["__name",0]],23],["rates_saved.saved.1.name",[[34,34],["__name",0]],23]],16]]]',
  ],
  receipt_saved: [
    '[2,1700000000033,[],[],0,["receipt_saved.receipt.opId"],[["receipt_saved",["receipt_saved.receipt.id","receipt_saved.receipt.bulkId",["acme","red","one"],0,"pause",["receipt_saved.receipt.actor.id","agent","receipt_saved.receipt.actor.label"],"receipt_saved.receipt.reason","operator","team",1,30,0,0,-4,0,"requested","receipt_saved.receipt.detail",1,1]]]]',
    '[2,1700000000033,[],[],0,["receipt_saved.receipt.opId"],[["receipt_saved",["receipt_saved.receipt.id","receipt_saved.receipt.bulkId",["acme","red","one"],0,"pause",["receipt_saved.receipt.actor.id","agent","receipt_saved.receipt.actor.label"],"receipt_saved.receipt.reason","operator","team",1,30,0,0,-4,0,"requested","receipt_saved.receipt.detail",1,1,1,31]]]]',
  ],
  receipts_removed: ['[2,1700000000023,[],[],0,[],[["receipts_removed",0,21]]]'],
  restore_recorded: ['[2,0,[],[],0,[],[["restore_recorded"]]]'],
  rights_changed: ['[2,0,[],[],0,[],[["rights_changed",["rights_changed.ids.0","rights_changed.ids.1"]]]]'],
  run_control_removed: [
    '[2,1700000000030,[],[],0,[],[["run_control_removed",["run_control_removed.control.runId","run_control_removed.control.orgId","run_control_removed.control.teamId","run_control_removed.control.agentId","pause","run_control_removed.control.controlId",["run_control_removed.control.actor.id","agent","run_control_removed.control.actor.label"],["run_control_removed.control.imposedBy.orgId","run_control_removed.control.imposedBy.teamId"],0,7]]]]',
  ],
  run_control_saved: [
    '[2,1700000000028,[],[],0,[],[["run_control_saved",["run_control_saved.control.runId","run_control_saved.control.orgId","run_control_saved.control.teamId","run_control_saved.control.agentId","pause","run_control_saved.control.controlId",["run_control_saved.control.actor.id","agent","run_control_saved.control.actor.label"],["run_control_saved.control.imposedBy.orgId","run_control_saved.control.imposedBy.teamId"],0,7]]]]',
  ],
  run_control_used: [
    '[2,1700000000027,[],[],0,[],[["run_control_used",["run_control_used.control.runId","run_control_used.control.orgId","run_control_used.control.teamId","run_control_used.control.agentId","pause","run_control_used.control.controlId",["run_control_used.control.actor.id","agent","run_control_used.control.actor.label"],["run_control_used.control.imposedBy.orgId","run_control_used.control.imposedBy.teamId"],0,7]]]]',
  ],
  runs_forgotten: [
    '[2,0,[],[],0,[],[["runs_forgotten",[["runs_forgotten.runs.0.orgId","runs_forgotten.runs.0.teamId","runs_forgotten.runs.0.runId","runs_forgotten.runs.0.agentId"],["runs_forgotten.runs.1.orgId","runs_forgotten.runs.1.teamId","runs_forgotten.runs.1.runId","runs_forgotten.runs.1.agentId"]]]]]',
    '[2,1700000000017,[],[],0,[],[["runs_forgotten",[["runs_forgotten.runs.0.orgId","runs_forgotten.runs.0.teamId","runs_forgotten.runs.0.runId","runs_forgotten.runs.0.agentId"],["runs_forgotten.runs.1.orgId","runs_forgotten.runs.1.teamId","runs_forgotten.runs.1.runId","runs_forgotten.runs.1.agentId"]],0,[["runs_forgotten.dropped.0.orgId","runs_forgotten.dropped.0.teamId","runs_forgotten.dropped.0.runId","runs_forgotten.dropped.0.agentId"],["runs_forgotten.dropped.1.orgId","runs_forgotten.dropped.1.teamId","runs_forgotten.dropped.1.runId","runs_forgotten.dropped.1.agentId"]]]]]',
  ],
  runs_saved: [
    '[2,1700000000028,[],[],0,[],[["runs_saved",[[["runs_saved.saved.0.place.orgId","runs_saved.saved.0.place.teamId","runs_saved.saved.0.place.runId","runs_saved.saved.0.place.agentId"],0,-3,25,25,"runs_saved.saved.0.spentMicros","runs_saved.saved.0.costMicros",[["runs_saved.saved.0.agents.0.agentId",34],["runs_saved.saved.0.agents.1.agentId",34]],22],[["runs_saved.saved.1.place.orgId","runs_saved.saved.1.place.teamId","runs_saved.saved.1.place.runId","runs_saved.saved.1.place.agentId"],0,-3,25,25,"runs_saved.saved.1.spentMicros","runs_saved.saved.1.costMicros",[["runs_saved.saved.1.agents.0.agentId",34],["runs_saved.saved.1.agents.1.agentId",34]],22]],15]]]',
  ],
  signing_key_removed: ['[2,0,[],[],0,[],[["signing_key_removed","signing_key_removed.kid"]]]'],
  signing_key_saved: [
    '[2,1700000000031,[],[],0,[],[["signing_key_saved",["signing_key_saved.key.kid","signing_key_saved.key.privateJwk","signing_key_saved.key.publicJwk",0]]]]',
  ],
  suspension: [
    '[2,1700000000013,[],[],0,[],[["suspension",0,"suspended",["suspension.suspension.id","suspension.suspension.orgId","suspension.suspension.teamId","pause",["suspension.suspension.actor.id","agent","suspension.suspension.actor.label"],"suspension.suspension.credentialId",["suspension.suspension.imposedBy.orgId","suspension.suspension.imposedBy.teamId"],"suspension.suspension.reason",14,[40,40,40,"suspension.suspension.operations.controlId"],1,[["suspension.suspension.lifted.actor.id","agent","suspension.suspension.lifted.actor.label"],["suspension.suspension.lifted.imposedBy.orgId","suspension.suspension.lifted.imposedBy.teamId"],"suspension.suspension.lifted.reason",18]]]]]',
  ],
  suspension_removed: [
    '[2,1700000000035,[],[],0,[],[["suspension_removed",["suspension_removed.suspension.id","suspension_removed.suspension.orgId","suspension_removed.suspension.teamId","pause",["suspension_removed.suspension.actor.id","agent","suspension_removed.suspension.actor.label"],"suspension_removed.suspension.credentialId",["suspension_removed.suspension.imposedBy.orgId","suspension_removed.suspension.imposedBy.teamId"],"suspension_removed.suspension.reason",0,[48,48,48,"suspension_removed.suspension.operations.controlId"],1,[["suspension_removed.suspension.lifted.actor.id","agent","suspension_removed.suspension.lifted.actor.label"],["suspension_removed.suspension.lifted.imposedBy.orgId","suspension_removed.suspension.lifted.imposedBy.teamId"],"suspension_removed.suspension.lifted.reason",4]]]]]',
  ],
  suspension_saved: [
    '[2,1700000000033,[],[],0,[],[["suspension_saved",["suspension_saved.suspension.id","suspension_saved.suspension.orgId","suspension_saved.suspension.teamId","pause",["suspension_saved.suspension.actor.id","agent","suspension_saved.suspension.actor.label"],"suspension_saved.suspension.credentialId",["suspension_saved.suspension.imposedBy.orgId","suspension_saved.suspension.imposedBy.teamId"],"suspension_saved.suspension.reason",0,[46,46,46,"suspension_saved.suspension.operations.controlId"],1,[["suspension_saved.suspension.lifted.actor.id","agent","suspension_saved.suspension.lifted.actor.label"],["suspension_saved.suspension.lifted.imposedBy.orgId","suspension_saved.suspension.lifted.imposedBy.teamId"],"suspension_saved.suspension.lifted.reason",4]]]]]',
  ],
};
