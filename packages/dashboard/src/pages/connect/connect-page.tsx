import { agentPath } from '@reeve/contract/names';
import { useState } from 'react';
import { useRoute } from '../../api/use-route.ts';
import { useGrant } from '../../api/use-session.ts';
import { usePageSearch } from '../../shell/search.ts';
import { Button } from '../../ui/button.tsx';
import { Card } from '../../ui/card.tsx';
import { Loaded } from '../../ui/loaded.tsx';
import { Page } from '../../ui/page.tsx';
import { AgentForm } from './agent-form.tsx';
import { doorChoices } from './connect-doors.ts';
import { parseConnectSearch } from './connect-search.ts';
import { DoorLines } from './door-lines.tsx';
import { DoorPicker } from './door-picker.tsx';
import { FirstCheck } from './first-check.tsx';
import { KnownAgent } from './known-agent.tsx';
import type { MadeAgent } from './made-agent.ts';

/** Brings an agent under the gateway, step by step, until its first check has arrived. */
export function ConnectPage() {
  const [search, change] = usePageSearch(parseConnectSearch);
  const grant = useGrant();
  const connection = useRoute('connection');
  const [made, setMade] = useState<MadeAgent>();
  const door = search.door ?? 'sdk';
  const choice = doorChoices[door];
  if (grant === undefined) return null;
  return (
    <Page title="Connect an agent">
      <div className="grid max-w-5xl gap-4">
        <Card title="1. How does it work?">
          <DoorPicker door={door} onChange={(next) => change({ door: next })} />
          <p className="mt-3 text-sm text-muted">{choice.leaves}</p>
        </Card>
        <Card
          title="2. Which agent is it?"
          {...(made === undefined
            ? {}
            : {
                actions: (
                  <Button size="small" onClick={() => setMade(undefined)}>
                    Connect another
                  </Button>
                ),
              })}
        >
          {made === undefined ? (
            <AgentForm
              grant={grant}
              asked={search.agent}
              framework={choice.framework}
              onMade={(agent) => {
                setMade(agent);
                change({ agent: agentPath(agent.agent) });
              }}
            />
          ) : (
            <KnownAgent made={made} grant={grant} />
          )}
        </Card>
        <Card title="3. What to paste">
          <Loaded query={connection} what="The address of the gateway">
            {({ grpc_addr: grpcAddr, tls: hasTls }) => (
              <DoorLines
                door={door}
                place={{ grpcAddr, hasTls, agent: made?.agent ?? { org_id: '', team_id: '', agent_id: 'agent' } }}
                token={made?.token}
              />
            )}
          </Loaded>
        </Card>
        <Card title="4. The first check">
          {made === undefined ? (
            <p className="text-muted">When the agent has its token, this waits for its first check and turns green.</p>
          ) : (
            <FirstCheck key={made.token} agent={made.agent} isNew={made.created} />
          )}
        </Card>
      </div>
    </Page>
  );
}
