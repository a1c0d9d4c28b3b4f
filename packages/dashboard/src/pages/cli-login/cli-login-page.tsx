import { callRoute } from '../../api/call.ts';
import { useAction } from '../../api/use-route.ts';
import { useGrant } from '../../api/use-session.ts';
import { usePageSearch } from '../../shell/search.ts';
import { Button } from '../../ui/button.tsx';
import { Card } from '../../ui/card.tsx';
import { EmptyState } from '../../ui/empty-state.tsx';
import { ErrorNotice } from '../../ui/error-notice.tsx';
import { Page } from '../../ui/page.tsx';
import type { AskingCommand } from './cli-login-search.ts';
import { askingCommand, commandUrl, parseCliLoginSearch } from './cli-login-search.ts';

/** Lets the command line on this computer in as the signed-in person, if that person says so. */
export function CliLoginPage() {
  const [search] = usePageSearch(parseCliLoginSearch);
  const command = askingCommand(search);
  const grant = useGrant();
  return (
    <Page title="Let a command in">
      <Card>
        {command === undefined ? (
          <EmptyState icon="alert" title="This link is not whole">
            Run “reeve login --sso” again, and open the address that it shows.
          </EmptyState>
        ) : grant?.kind === 'api_key' ? (
          <EmptyState icon="key" title="An API key is not a person">
            You are signed in with an API key. Use the key itself: “reeve login” asks for it.
          </EmptyState>
        ) : (
          <Question command={command} who={grant?.account?.email ?? ''} />
        )}
      </Card>
    </Page>
  );
}

function Question({ command, who }: { readonly command: AskingCommand; readonly who: string }) {
  const letIn = useAction(() => callRoute('makeCliCode', { body: { challenge: command.challenge } }), {
    isFailureShown: true,
    onSuccess: ({ code }) => location.assign(commandUrl(command, code)),
  });
  return (
    <div className="max-w-prose space-y-4">
      <p>
        A command on this computer, at port {command.port}, asks to act as <strong>{who}</strong>, with all that you may
        do, until you sign it out.
      </p>
      <p>
        Let it in only if you have just run <code>reeve login --sso</code> yourself. If somebody has sent you this link,
        close the page.
      </p>
      {letIn.error === null ? null : <ErrorNotice error={letIn.error} />}
      <Button look="primary" isPending={letIn.isPending || letIn.isSuccess} onClick={() => letIn.mutate()}>
        Let it in
      </Button>
    </div>
  );
}
