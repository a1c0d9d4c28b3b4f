import { visibleText } from '@reeve/contract/visible-text';
import { useState } from 'react';
import { useEvents } from '../../api/use-events.ts';
import { toast } from '../../ui/toast.ts';

interface Notifications {
  /** Whether the browser can, may, or must not notify. */
  readonly permission: NotificationPermission | 'unsupported';
  readonly ask: () => void;
}

/** Browser notifications for approvals that arrive while the page is hidden. */
export function useNotifications(onOpen: (id: string) => void): Notifications {
  const isSupported = 'Notification' in globalThis;
  const [permission, setPermission] = useState<Notifications['permission']>(
    isSupported ? Notification.permission : 'unsupported',
  );
  useEvents(['approval'], (events) => {
    if (permission !== 'granted' || document.visibilityState === 'visible') return;
    for (const { payload } of events) {
      if (payload.change !== 'requested') continue;
      const { approval } = payload;
      const { org_id: org, agent_id: agent } = approval.agent;
      const notice = new Notification('An agent waits for an approval', {
        body: visibleText(`${org}/${agent}: ${approval.title}`),
        tag: approval.id,
      });
      notice.addEventListener('click', () => {
        window.focus();
        onOpen(approval.id);
        notice.close();
      });
    }
  });
  const ask = async () => {
    const answer = await Notification.requestPermission();
    setPermission(answer);
    if (answer === 'denied')
      toast.warn('The browser does not allow notices here. Its settings for this page can change that.');
  };
  return { permission, ask: () => void ask() };
}
