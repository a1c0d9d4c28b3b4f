import { agentPath } from '@reeve/contract/names';
import { Link } from '@tanstack/react-router';
import type { Grant } from '../../api/grant.ts';
import { AgentName } from '../../ui/agent-name.tsx';
import { CopyButton } from '../../ui/copy-button.tsx';
import { Icon } from '../../ui/icon.tsx';
import type { MadeAgent } from './made-agent.ts';

interface KnownAgentProps {
  readonly made: MadeAgent;
  readonly grant: Grant;
}

/** The agent that was registered, and what its token means. */
export function KnownAgent({ made: { agent, token, created }, grant }: KnownAgentProps) {
  // Whoever registers an agent neither approves what it does nor lifts what was imposed on it.
  const isOwnJudge = grant.orgId === null && grant.scopes.includes('admin');
  return (
    <div className="space-y-3">
      <p className="flex flex-wrap items-center gap-x-2">
        <Link
          to="/topology"
          search={{ agent: agentPath(agent) }}
          className="font-medium text-accent underline underline-offset-2"
        >
          <AgentName agent={agent} />
        </Link>
        <span>{created ? 'is registered.' : 'has a new token. The old one has stopped.'}</span>
      </p>
      <p className="flex items-start gap-2 rounded-md bg-warn-soft p-3 text-warn">
        <Icon name="alert" className="mt-0.5" />
        <span className="min-w-0 flex-1">
          Its token is in the lines below. It is shown this once: when you leave this page, nobody can see it again.
        </span>
        <CopyButton text={token} label="Copy the token" />
      </p>
      {isOwnJudge ? null : (
        <p className="text-sm text-muted">
          You have registered it, so somebody else approves what it asks for, and lifts its suspensions.
        </p>
      )}
    </div>
  );
}
