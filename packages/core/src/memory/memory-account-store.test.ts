import { accountStoreConformance } from '../testkit/index.ts';
import { MemoryAccountStore } from './memory-account-store.ts';
import { MemoryStore } from './memory-store.ts';

accountStoreConformance(
  'memory',
  () =>
    Promise.resolve({
      open: () => {
        const store = new MemoryAccountStore();
        const log = new MemoryStore(0, store);
        return Promise.resolve({
          store,
          recordOwed: async (id) => {
            log.commit({ entries: [], changes: [{ kind: 'owed_entry_recorded', id }] });
          },
          close: () => store.close(),
        });
      },
      dispose: () => Promise.resolve(),
    }),
  {
    forgetsBecause: 'memory ends with the process',
    oneByOneBecause: 'nothing here takes long',
    oneGatewayBecause: 'memory belongs to one process',
  },
);
