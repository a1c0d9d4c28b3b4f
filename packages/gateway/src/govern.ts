import type { Clock, Governance, Randomness, Snapshot, Store } from '@reeve/core';
import {
  AgentDirectory,
  EventBus,
  Journal,
  OpsRegistry,
  PolicySet,
  policyVersion,
  recoverOps,
  sealer,
} from '@reeve/core';
import type { Config } from './config/settings.ts';

export interface GovernPorts {
  readonly store: Store;
  readonly snapshot: Snapshot;
  readonly clock: Clock;
  readonly randomness: Randomness;
  readonly sha256: (text: string) => string;
  /** Told after each commit: what went wrong, if anything, and how long it took. */
  readonly onCommit: (error: unknown, seconds: number) => void;
  readonly onSubscriberError: (error: unknown) => void;
}

/** Puts the state of the gateway together from what its store remembers. */
export async function govern(config: Config, ports: GovernPorts): Promise<{ gov: Governance; events: EventBus }> {
  const { store, snapshot, clock, randomness, sha256 } = ports;
  const events = new EventBus(ports.onSubscriberError);
  let startedAt = 0;
  const journal = new Journal(
    {
      commit: (batch) => {
        startedAt = clock.elapsed();
        store.commit(batch);
      },
      soon: setImmediate,
      seal: sealer(sha256),
      publish: (batch) => events.publish(batch),
      onCommit: (error) => ports.onCommit(error, (clock.elapsed() - startedAt) / 1000),
    },
    snapshot.head,
  );
  const gov: Governance = {
    directory: new AgentDirectory(),
    ops: new OpsRegistry(clock, config.opsTtlSecs * 1000),
    journal,
    clock,
    randomness,
    sha256,
    policies: new PolicySet([], policyVersion(sha256, [])),
  };
  for (const agent of snapshot.agents) gov.directory.put(agent, agent.registeredAt);
  if (!config.opsDurable) {
    journal.write({ kind: 'ops_forgotten' });
  } else if (snapshot.opsReplayFrom === null) {
    journal.write({ kind: 'ops_replay_from', seq: snapshot.head.seq });
  } else {
    await recoverOps(gov, snapshot.ops, store, snapshot.opsReplayFrom);
  }
  await journal.committed();
  return { gov, events };
}
