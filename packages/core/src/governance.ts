import type { KeyRing } from './access/key-ring.ts';
import type { ApprovalDesk } from './approvals/approval-desk.ts';
import type { Ledger } from './budget/ledger.ts';
import type { Micros } from './kernel/money.ts';
import type { RunTally } from './budget/run-tally.ts';
import type { ControlDesk } from './control/control-desk.ts';
import type { Journal } from './journal/journal.ts';
import type { Clock } from './kernel/clock.ts';
import type { Sha256 } from './kernel/hash.ts';
import type { Randomness } from './kernel/randomness.ts';
import type { OpsRegistry } from './ops/registry.ts';
import type { PolicySet } from './policy/policy-set.ts';
import type { PolicyLibrary } from './policy/store/policy-library.ts';
import type { AgentDirectory } from './tenancy/directory.ts';

/** What the use cases work on: the state of the gateway in memory, the journal that makes it durable, and the ports. */
export interface Governance {
  /** Every API key there is or was: which credential comes from which, and who stands behind it. */
  readonly keys: KeyRing;
  readonly directory: AgentDirectory;
  readonly ops: OpsRegistry;
  /** What was spent and what is held back. */
  readonly ledger: Ledger;
  /** The most that one action may cost. */
  readonly mostActionMicros: Micros;
  /** What has happened in the runs of agents. */
  readonly runs: RunTally;
  /** What agents are told about their operations, and what they say to it. */
  readonly control: ControlDesk;
  /** What people are asked about, and what they have granted. */
  readonly approvals: ApprovalDesk;
  readonly journal: Journal;
  readonly clock: Clock;
  readonly randomness: Randomness;
  readonly sha256: Sha256;
  /** The policies in force. A reload puts another set here, whole. */
  policies: PolicySet;
  /** Where they come from. */
  readonly library: PolicyLibrary;
}
