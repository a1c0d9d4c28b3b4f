import { actionName } from '../../api/action-name.ts';
import { behindDoor, entranceName, entranceTitle } from '../../api/entrance-name.ts';
import { isOver } from '@reeve/contract/names';
import { Link } from '@tanstack/react-router';
import { CopyButton } from '../../ui/copy-button.tsx';
import { Fact, Facts } from '../../ui/facts.tsx';
import { Icon } from '../../ui/icon.tsx';
import { Money } from '../../ui/money.tsx';
import { Age, Time } from '../../ui/time.tsx';
import { Unknown } from '../../ui/unknown.tsx';
import { placeOfOp } from '../runs/run.ts';
import { RunLink } from '../runs/run-link.tsx';
import type { Op } from './op.ts';
import { tokenWords } from './token-words.ts';

/** The facts of one operation. */
export function OpFacts({ op }: { readonly op: Op }) {
  const { org_id, team_id, agent_id } = op.agent;
  const address = [org_id, team_id, agent_id].map((part) => (part === '' ? '-' : part)).join('/');
  const tokens = tokenWords(op);
  return (
    <Facts>
      <Fact name="Agent">
        <Link to="/topology" search={{ agent: address }} className="break-all text-accent underline underline-offset-2">
          {address}
        </Link>
      </Fact>
      {op.via === null ? null : (
        <Fact name="Door">
          <span title={entranceTitle(op.via.door)}>{entranceName(op.via.door)}</span>
        </Fact>
      )}
      {op.via === null || op.via.name === '' ? null : (
        <Fact name={behindDoor[op.via.door]}>
          <span className="break-all">{op.via.name}</span>
        </Fact>
      )}
      {op.floor ? (
        <Fact name="Floor">
          <span className="inline-flex items-center gap-1">
            <Icon name="seal" />
            the kernel holds it
          </span>
        </Fact>
      ) : null}
      <Fact name="Action">
        {actionName(op.action_type) ?? <Unknown />}
        {op.resource === '' ? null : <span className="break-all">{` · ${op.resource}`}</span>}
      </Fact>
      <Fact name="Summary">{op.summary === '' ? <Unknown /> : <span className="break-words">{op.summary}</span>}</Fact>
      <Fact name="Run">
        <RunLink run={placeOfOp(op.agent, op.run_id)} />
      </Fact>
      <Fact name={isOver(op.state) ? 'Cost' : 'Cost, reserved'}>
        <Money micros={op.action_type === null ? null : op.cost_micros} />
      </Fact>
      {tokens === undefined ? null : <Fact name="Tokens">{tokens}</Fact>}
      <Fact name="Began">
        <Time at={op.registered_at} form="clock" />
        <span className="text-muted">
          {isOver(op.state) ? ', took ' : ', '}
          <Age since={op.registered_at} until={isOver(op.state) ? op.updated_at : null} />
        </span>
      </Fact>
      <Fact name="State since">
        <Time at={op.updated_at} form="clock" />
      </Fact>
      {op.reason === '' || op.state !== 'terminated' ? null : (
        <Fact name="Reason">
          <span className="break-words">{op.reason}</span>
        </Fact>
      )}
      <Fact name="Id">
        <span className="flex items-center gap-1">
          <code className="min-w-0 break-all">{op.op_id}</code>
          <CopyButton text={op.op_id} label="Copy the id" />
        </span>
      </Fact>
    </Facts>
  );
}
