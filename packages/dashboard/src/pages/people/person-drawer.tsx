import { agentPath } from '@reeve/contract/names';
import type { PersonJson } from '@reeve/contract/people';
import { keyOfPerson } from '@reeve/contract/people';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { formatCount } from '../../api/format.ts';
import { useRoute } from '../../api/use-route.ts';
import { buttonClasses } from '../../ui/button.tsx';
import { Drawer } from '../../ui/dialog.tsx';
import { Fact, Facts } from '../../ui/facts.tsx';
import { Loaded } from '../../ui/loaded.tsx';
import { Time } from '../../ui/time.tsx';
import { nameOf } from './people-columns.tsx';
import { PersonDenials } from './person-denials.tsx';

interface PersonDrawerProps {
  readonly issuer: string;
  readonly sub: string;
  readonly orgId: string | undefined;
  /** The person, if the list has them. */
  readonly listed: PersonJson | undefined;
  readonly onClose: () => void;
}

/** One person: what agents did for them, and what was denied and why. */
export function PersonDrawer({ issuer, sub, orgId, listed, onClose }: PersonDrawerProps) {
  const narrowed = orgId === undefined ? {} : { org_id: orgId };
  const query = useRoute('listPeople', { query: { user: sub, ...narrowed } }, { enabled: listed === undefined });
  const key = JSON.stringify([issuer, sub]);
  const found = listed ?? query.data?.items.find((person) => keyOfPerson(person) === key);
  return (
    <Drawer isOpen onClose={onClose} title={found === undefined ? sub : nameOf(found.user)}>
      {listed === undefined ? (
        <Loaded query={query} what="The person" lines={8}>
          {() =>
            found === undefined ? (
              <p>
                No agent acted for somebody of this subject and issuer, as far as the newest entries of the log say.
              </p>
            ) : (
              <Details person={found} orgId={orgId} />
            )
          }
        </Loaded>
      ) : (
        <Details person={listed} orgId={orgId} />
      )}
    </Drawer>
  );
}

function Details({ person, orgId }: { readonly person: PersonJson; readonly orgId: string | undefined }) {
  const { user, agents, agent_count: count } = person;
  const search = { user: nameOf(user), ...(orgId === undefined ? {} : { org_id: orgId }) };
  return (
    <div className="space-y-5">
      <Facts>
        {user.email === '' ? null : <Fact name="Email">{user.email}</Fact>}
        <Fact name="Subject">{user.sub}</Fact>
        <Fact name="Issuer">{user.issuer === '' ? 'not on record' : user.issuer}</Fact>
        <Fact name="Last seen">
          <Time at={person.last_at} form="full" />
        </Fact>
        <Fact name="Allowed">{formatCount(person.allow)}</Fact>
        <Fact name="Denied">{formatCount(person.deny)}</Fact>
        <Fact name="Held for approval">{formatCount(person.pending)}</Fact>
      </Facts>
      <p className="text-sm text-muted">
        The log keeps groups only with decisions whose rules looked at them, and no other claims.
      </p>
      <Section title="Agents that acted">
        <ul className="space-y-1">
          {agents.map(agentPath).map((path) => (
            <li key={path}>
              <Link
                to="/topology"
                search={{ agent: path }}
                className="break-all text-accent underline underline-offset-2"
              >
                {path}
              </Link>
            </li>
          ))}
          {count > agents.length ? (
            <li className="text-muted">{`and ${formatCount(count - agents.length)} more`}</li>
          ) : null}
        </ul>
      </Section>
      <Section title="Denied last, and why">
        <PersonDenials user={user} orgId={orgId} />
      </Section>
      <div className="flex flex-wrap gap-2">
        <Link to="/audit" search={search} className={buttonClasses('plain', 'small')}>
          Everything in the audit log
        </Link>
        <Link to="/audit" search={{ ...search, decision: 'deny' }} className={buttonClasses('plain', 'small')}>
          All denials
        </Link>
        <Link to="/runs" search={search} className={buttonClasses('plain', 'small')}>
          Runs
        </Link>
        <Link to="/approvals" className={buttonClasses('plain', 'small')}>
          Approvals
        </Link>
      </div>
    </div>
  );
}

function Section({ title, children }: { readonly title: string; readonly children: ReactNode }) {
  return (
    <section>
      <h3 className="mb-1.5 font-semibold">{title}</h3>
      {children}
    </section>
  );
}
