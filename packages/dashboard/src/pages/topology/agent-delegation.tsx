import { agentPath } from '@reeve/contract/names';
import { useState } from 'react';
import type { Answer } from '../../api/send.ts';
import { useCan } from '../../api/use-session.ts';
import { Button } from '../../ui/button.tsx';
import { Fact, Facts } from '../../ui/facts.tsx';
import { Time } from '../../ui/time.tsx';
import { limitWords } from './delegation-words.ts';
import { RevokeDelegationDialog } from './revoke-delegation-dialog.tsx';

interface AgentDelegationProps {
  readonly agent: Answer<'getAgent'>;
  readonly onOpen: (path: string) => void;
}

/** On whose behalf an agent acts, and how to end that. */
export function AgentDelegation({ agent, onOpen }: AgentDelegationProps) {
  const mayWrite = useCan('write');
  const [isEnding, setIsEnding] = useState(false);
  const { delegation } = agent;
  if (delegation === null) return null;
  const by = agentPath(delegation.by);
  return (
    <section>
      <h3 className="mb-1.5 font-semibold">Delegation</h3>
      <Facts>
        <Fact name="Acts for">
          <Button look="plain" size="small" onClick={() => onOpen(by)}>
            {delegation.by.agent_id}
          </Button>
        </Fact>
        <Fact name="Limits">{limitWords(delegation)}</Fact>
        <Fact name="Ends">
          <Time at={delegation.expires_at} form="full" />
        </Fact>
      </Facts>
      {mayWrite ? (
        <Button look="danger" size="small" className="mt-2" onClick={() => setIsEnding(true)}>
          End delegation
        </Button>
      ) : null}
      {isEnding ? <RevokeDelegationDialog ids={agent} onClose={() => setIsEnding(false)} /> : null}
    </section>
  );
}
