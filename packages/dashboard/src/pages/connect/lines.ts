import { isLocalAddress } from '@reeve/contract/host-name';

/** Where the agent and the gateway are. */
export interface LinesFor {
  readonly grpcAddr: string;
  readonly hasTls: boolean;
  readonly agent: { readonly org_id: string; readonly team_id: string; readonly agent_id: string };
}

export interface Lines {
  /** What to do with them. */
  readonly title: string;
  /** The token stands where `tokenMark` does. */
  readonly code: string;
  readonly note?: string;
}

/** Stands for the token. No line contains it otherwise. */
export const tokenMark = '{{token}}';

/** No public authority certifies the names of a machine itself. So these lines need the file, and others may. */
export function authorityOf({ grpcAddr, hasTls }: LinesFor): Authority {
  const isPrivate = hasTls && isLocalAddress(grpcAddr);
  return {
    flag: isPrivate ? ` --grpc-ca ${caFile}` : '',
    env: isPrivate ? { REEVE_GRPC_CA: caFile } : {},
    noteOf: (option) => {
      if (isPrivate) return `“${caFile}” stands for the file of the authority that certified this gateway.`;
      return hasTls
        ? `If an authority of your own certified this gateway, name its file (PEM) by ${option}.`
        : undefined;
    },
  };
}

interface Authority {
  readonly flag: string;
  readonly env: Readonly<Record<string, string>>;
  /** What to say of the authority beside lines that take this option. */
  noteOf(option: string): string | undefined;
}

const caFile = '/etc/reeve/ca.pem';

export function joined(...notes: readonly (string | undefined)[]): Pick<Lines, 'note'> {
  const said = notes.filter((note) => note !== undefined);
  return said.length === 0 ? {} : { note: said.join(' ') };
}
